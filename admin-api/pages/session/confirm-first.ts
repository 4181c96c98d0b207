/** The CSRF field of every form of a session, and the notice that replaces forms until the user has confirmed the sign-in. */
import { textsIn, type PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from '../layout/html.ts'
import type { Visitor } from '../layout/layout.ts'

export const csrfField = ({ csrfToken }: Visitor): Html => html`<input type="hidden" name="csrf" value="${csrfToken}" />`

/** Links to a new sign-in that returns to the page at `path`. */
export const confirmFirst = (path: string, why: string, texts: PageTexts = textsIn('en')): Html =>
  html`<div class="note split">
    <p>${why}</p>
    <a class="button quiet" href="/sign-in?again=1&next=${encodeURIComponent(path)}">${texts.confirm}</a>
  </div>`
