/** The way out of an organization, on the pages of members and of usage. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { html, type Html } from '../layout/html.ts'
import { keyChoice } from '../layout/key-choice.ts'

interface Endings {
  /** The API keys that end when the reader leaves. */
  readonly keys: readonly ApiKey[]
  readonly mayKeep: boolean
}

/** For a fresh session. */
export const leaveForm = (id: string, name: string, csrf: Html, { keys, mayKeep }: Endings): Html =>
  html`<details class="after">
    <summary>Leave this organization</summary>
    <form class="acts" method="post" action="/organizations/${id}/leave">
      ${csrf}
      <p>You lose access to ${name} immediately.</p>
      ${keyChoice(keys, { mayKeep, kept: 'A kept key keeps its limits.' })}
      <div><button class="danger">Leave ${name}</button></div>
    </form>
  </details>`
