/** The API keys that a change would revoke, each with a checkbox to keep it. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { textsIn, type PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from './html.ts'

const field = 'keep_key'

interface KeyChoice {
  readonly mayKeep: boolean
  /** Remaining permissions of a kept key. */
  readonly kept?: string
}

/** Returns undefined if no key is revoked. Without `mayKeep`, the keys are listed without checkboxes. */
export function keyChoice(keys: readonly ApiKey[], { mayKeep, kept }: KeyChoice, texts: PageTexts = textsIn('en')): Html | undefined {
  if (keys.length === 0) return undefined
  const count = keys.length
  return html`<fieldset class="checks">
    <legend>${texts.keys.which({ count })}${mayKeep && `, ${texts.keys.unless({ count })}`}.</legend>
    ${keys.map((key) => row(key, mayKeep, texts))} ${mayKeep && kept !== undefined && html`<p class="hint">${kept}</p>`}
  </fieldset>`
}

const row = ({ id, name, preview, sendOnly, scopes }: ApiKey, mayKeep: boolean, { keys }: PageTexts): Html => {
  const named = html`${name} <span class="meta">${preview} · ${sendOnly ? keys.sendsOnly : scopes.at(-1)}</span>`
  if (!mayKeep) return html`<p>${named}</p>`
  return html`<label class="check"><input type="checkbox" name="${field}" value="${id}" /><span>${keys.keep({ key: named })}</span></label>`
}

/** Returns the ids of the checked keys. */
export const keysToKeep = (form: URLSearchParams): readonly string[] => form.getAll(field)
