// The browser module of pages that edit manifests. It defines <portico-editor>: CodeMirror in a shadow
// root, whose styles are constructed style sheets, because `style-src 'self'` blocks <style> elements.
import { PorticoEditor } from "./element.js";

if (!customElements.get("portico-editor")) customElements.define("portico-editor", PorticoEditor);
