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
  if (!answer.ok || answer.redirected) {
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
// In the graph of an answer, what is linked to the element under the pointer, or with the focus.
for (const [type, isOn] of [["mouseover", true], ["focusin", true], ["mouseout", false], ["focusout", false]]) {
  document.addEventListener(type, (event) => {
    const node = event.target.closest?.("#graph [data-number]");
    if (!node) {
      return;
    }
    const graph = node.closest("#graph");
    graph.classList.toggle("picked", isOn);
    const ends = new Set([node.dataset.number]);
    for (const link of graph.querySelectorAll("[data-ends]")) {
      const both = link.dataset.ends.split(" ");
      const isLinked = both.includes(node.dataset.number);
      link.classList.toggle("picked", isOn && isLinked);
      both.forEach((one) => isLinked && ends.add(one));
    }
    for (const one of graph.querySelectorAll("[data-number]")) {
      one.classList.toggle("picked", isOn && ends.has(one.dataset.number));
    }
  });
}
