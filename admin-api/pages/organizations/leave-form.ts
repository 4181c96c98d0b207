/** The form to leave an organization, on the pages for members and for usage. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { html, type Html } from '../layout/html.ts'
import { keyChoice } from '../layout/key-choice.ts'
import type { PageTexts } from '../texts/texts-for.ts'

interface Endings {
  /** API keys that are revoked when the reader leaves. */
  readonly keys: readonly ApiKey[]
  readonly mayKeep: boolean
}

/** Requires a recently confirmed session. */
export const leaveForm = (id: string, name: string, csrf: Html, { keys, mayKeep }: Endings, texts: PageTexts): Html => {
  const { leave } = texts.organization
  return html`<details class="after">
    <summary>${leave.open}</summary>
    <form class="acts" method="post" action="/organizations/${id}/leave">
      ${csrf}
      <p>${leave.lose({ name })}</p>
      ${keyChoice(keys, { mayKeep, kept: leave.kept }, texts)}
      <div><button class="danger">${leave.button({ name })}</button></div>
    </form>
  </details>`
}
