"use strict";
// Search as you type; without JavaScript, Enter submits the form.
const field = document.getElementById("search");
const results = document.getElementById("results");
if (field && results) {
  field.setSelectionRange(field.value.length, field.value.length);
  // What is shown while nothing is searched for.
  const before = field.defaultValue ? "" : results.innerHTML;
  let latest = 0;
  let timer;
  const search = (delay) => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++latest;
      const address = new URL("search", new URL(field.form.action));
      address.search = new URLSearchParams(new FormData(field.form));
      const answer = await fetch(address, { credentials: "same-origin" });
      if (answer.ok && number === latest) {
        results.innerHTML = (await answer.text()) || before;
        again();
      }
    }, delay);
  };
  // While the index is being built, what it has is asked for again.
  const again = () => {
    if (results.querySelector("[data-again]")) {
      search(1000);
    }
  };
  again();
  field.addEventListener("input", () => search(120));
}
// "/" goes to the search; arrow keys go through its hits, and back into it.
const searches = field || document.querySelector(".quick input");
document.addEventListener("keydown", (event) => {
  const isTyped = event.target.matches("input, textarea, select");
  if (event.key === "/" && searches && !isTyped && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    searches.focus();
  }
  if (!results || !(event.key === "ArrowDown" || event.key === "ArrowUp")) {
    return;
  }
  const links = [field, ...results.querySelectorAll(".hits > li a:first-of-type")];
  const place = links.indexOf(document.activeElement);
  const following = links[place + (event.key === "ArrowDown" ? 1 : -1)];
  if (place >= 0 && following) {
    event.preventDefault();
    following.focus();
  }
});
// The slider: the page as of the commit at which a pointer releases it. Keys only move it, because
// each of them would load a page; Enter, or the button, shows the page. Both say what commit it is.
const slider = document.querySelector(".time input");
if (slider) {
  const button = slider.form.querySelector("button");
  const output = slider.form.querySelector("output");
  const marker = slider.form.querySelector(".marker");
  const bars = [...slider.form.querySelectorAll("[data-last]")];
  let isMovedByKeys = false;
  let timer;
  const show = () => {
    slider.disabled = slider.value === slider.max;
    slider.form.submit();
  };
  const say = (text) => {
    output.textContent = isMovedByKeys ? `${text}: Enter shows it` : text;
  };
  const preview = async (seq) => {
    const address = `${slider.form.dataset.commit}?seq=${seq}`;
    const answer = await fetch(address, { credentials: "same-origin" });
    if (answer.ok && slider.value === seq) {
      say((await answer.json()).text);
    }
  };
  const mark = () => {
    const last = (bar) => Number(bar.dataset.last);
    const seq = Number(slider.value);
    const place = bars.findIndex((bar) => last(bar) >= seq);
    if (place >= 0) {
      const before = place ? last(bars[place - 1]) : Number(slider.min);
      const { x, width, height } = bars[place].querySelector(".place");
      const share = (seq - before) / (last(bars[place]) - before);
      const left = x.baseVal.value + width.baseVal.value * share;
      marker.setAttribute("d", `M${left} 0V${height.baseVal.value}`);
    }
  };
  button.hidden = true;
  slider.addEventListener("pointerdown", () => {
    isMovedByKeys = false;
  });
  slider.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      show();
    } else if (event.key !== "Tab") {
      isMovedByKeys = true;
    }
  });
  slider.addEventListener("input", () => {
    button.hidden = !isMovedByKeys;
    say(`commit ${slider.value}`);
    mark();
    clearTimeout(timer);
    timer = setTimeout(preview, 120, slider.value);
  });
  slider.addEventListener("change", () => {
    if (!isMovedByKeys) {
      show();
    }
  });
}
