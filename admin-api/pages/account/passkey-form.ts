/** Form that a script fills with the response of an authenticator. It stays hidden without a script or an authenticator. */
import type { PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from '../layout/html.ts'

/** Signs in with a passkey. `options` is the JSON for the browser's WebAuthn interface. */
export const passkeySignIn = (options: string, next: string, { or, signIn }: PageTexts): Html =>
  html`<form method="post" action="/sign-in/passkey" data-passkey data-options="${options}" data-fault="${signIn.noPasskey}" hidden>
    <p class="or">${or}</p>
    <p class="fault" role="alert" data-fault hidden></p>
    <input type="hidden" name="next" value="${next}" />
    <input type="hidden" name="response" />
    <button class="quiet">${signIn.usePasskey}</button>
  </form>`
