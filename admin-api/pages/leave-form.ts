/** The way out of an organization, on the pages of members and of usage. */
import { html, type Html } from './html.ts'

/** For a fresh session. */
export const leaveForm = (id: string, name: string, csrf: Html): Html =>
  html`<details class="after">
    <summary>Leave this organization</summary>
    <form class="acts" method="post" action="/organizations/${id}/leave">
      ${csrf}
      <p>You lose access to ${name} at once.</p>
      <div><button class="danger">Leave ${name}</button></div>
    </form>
  </details>`
