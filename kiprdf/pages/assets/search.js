(function () {
  "use strict";
  var form = document.getElementById("find");
  var field = document.getElementById("search");
  var results = document.getElementById("results");
  var most = 40;
  var names = null;
  var folded = null;

  function fold(text) {
    return text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  }

  window.kiprdfNames = function (loaded) {
    names = loaded;
    folded = loaded.map(function (row) { return [fold(row[0]), fold(row[2])]; });
    show();
  };

  function load() {
    if (document.getElementById("names")) { return; }
    var script = document.createElement("script");
    script.id = "names";
    script.src = "names.js";
    document.body.appendChild(script);
  }

  // 0: the name itself, 1: its beginning, 2: within it, 3: within an alias, 4: not at all.
  function rank(row, wanted) {
    if (row[0] === wanted) { return 0; }
    var place = row[0].indexOf(wanted);
    if (place >= 0) { return place === 0 ? 1 : 2; }
    return row[1].indexOf(wanted) >= 0 ? 3 : 4;
  }

  function entry(row) {
    var item = document.createElement("li");
    var link = document.createElement("a");
    var kind = document.createElement("small");
    link.href = row[3].split("/").map(encodeURIComponent).join("/");
    link.dir = "auto";
    link.textContent = row[0].slice(0, 120);
    kind.textContent = " " + row[1] + (row[2] ? " · " + row[2] : "");
    item.append(link, kind);
    return item;
  }

  function show() {
    var wanted = fold(field.value.trim());
    results.replaceChildren();
    if (!wanted || !names) { return; }
    var found = [];
    folded.forEach(function (row, place) {
      var how = rank(row, wanted);
      if (how < 4) { found.push([how, place]); }
    });
    found.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; });
    found.slice(0, most).forEach(function (hit) { results.append(entry(names[hit[1]])); });
    if (!found.length || found.length > most) {
      var note = document.createElement("li");
      note.className = "quiet";
      note.textContent = found.length ? found.length - most + " more" : "Nothing has this name.";
      results.append(note);
    }
  }

  form.hidden = false;
  form.addEventListener("submit", function (event) {
    event.preventDefault();
    var first = results.querySelector("a");
    if (first) { first.click(); }
  });
  field.addEventListener("focus", load);
  field.addEventListener("input", function () { load(); show(); });
})();
