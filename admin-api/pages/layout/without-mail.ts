/** Texts for a service that cannot send its own mail, with the alternative. */
import type { PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from './html.ts'

/** `email` is the address to sign in with, if known. The text is the same whether the address has an account or not. */
export const withoutMail = ({ signIn }: PageTexts, email?: string): Html =>
  html`<p class="note">${signIn.withoutMail({ command: `postern login-link ${email ?? 'name@example.org'}` })}</p>`

/** Shows an invitation link that its creator must pass on. */
export const handOver = (email: string, link: string, { organization }: PageTexts): Html =>
  html`<div class="note" role="status">
    <p><b>${organization.handOver.heading({ email })}</b> ${organization.handOver.text}</p>
    <p class="target"><code class="token">${link}</code></p>
  </div>`
