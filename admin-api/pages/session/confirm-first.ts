/** What every form of a session carries, and what stands in place of forms until the user has confirmed who they are. */
import { wordsIn, type PageWords } from '../words/words-for.ts'
import { html, type Html } from '../layout/html.ts'
import type { Visitor } from '../layout/layout.ts'

export const csrfField = ({ csrfToken }: Visitor): Html => html`<input type="hidden" name="csrf" value="${csrfToken}" />`

/** Leads to a new sign-in and back to the page at `path`. */
export const confirmFirst = (path: string, why: string, words: PageWords = wordsIn('en')): Html =>
  html`<div class="note split">
    <p>${why}</p>
    <a class="button quiet" href="/sign-in?again=1&next=${encodeURIComponent(path)}">${words.confirm}</a>
  </div>`
