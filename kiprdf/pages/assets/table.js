// On a narrow screen the filters are folded, so that the rows come first.
if (matchMedia("(max-width: 40rem)").matches) {
  for (const fold of document.querySelectorAll("details.fold")) fold.open = false;
}
