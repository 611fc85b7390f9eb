"use strict";
// Folds, filters and pages of the graph in place: it is fetched without the page around it.
// Without JavaScript, each of them is a link to the page in that state.
const showGraph = async (address, key) => {
  const part = new URL(document.getElementById("graph").dataset.part, location.href);
  for (const name of ["open", "p", "t"]) {
    if (address.searchParams.has(name)) {
      part.searchParams.set(name, address.searchParams.get(name));
    }
  }
  const answer = await fetch(part, { credentials: "same-origin" });
  if (!answer.ok) {
    location.href = address;
    return;
  }
  document.getElementById("graph").outerHTML = await answer.text();
  history.replaceState(null, "", address);
  // What had the focus keeps it, in the picture or in the list.
  const links = [...document.querySelectorAll("#graph .fold")];
  const same = links.find((one) => one.dataset.key === key && one.getClientRects().length);
  same?.focus({ preventScroll: true });
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("#graph a.fold");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    // The property href of a link in SVG is no text.
    showGraph(new URL(link.getAttribute("href"), location.href), link.dataset.key);
  }
});
