// Puts a button that copies the text on every block of code: it needs no network.
"use strict";

for (const block of document.querySelectorAll("div.highlight")) {
  const text = block.querySelector("pre");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(text);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  block.append(button);
}
