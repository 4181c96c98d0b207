/** What pages say where the service sends no mail of its own, and what to do instead. */
import type { PageWords } from '../words/words-for.ts'
import { html, type Html } from './html.ts'

/** `email`: whose way in it is, where it is known. It is the same for addresses that have an account and those that have none. */
export const withoutMail = ({ signIn }: PageWords, email?: string): Html =>
  html`<p class="note">${signIn.withoutMail({ command: `postern login-link ${email ?? 'name@example.org'}` })}</p>`

/** An invitation that its maker has to pass on. */
export const handOver = (email: string, link: string, { organization }: PageWords): Html =>
  html`<div class="note" role="status">
    <p><b>${organization.handOver.heading({ email })}</b> ${organization.handOver.text}</p>
    <p class="target"><code class="token">${link}</code></p>
  </div>`
