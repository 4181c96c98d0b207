/** The API keys that end with what a form removes, each to be kept by a tick. */
import type { ApiKey } from '#core/access/keys/api-key.ts'
import { html, type Html } from './html.ts'

const field = 'keep_key'

interface KeyChoice {
  readonly mayKeep: boolean
  /** What a kept key may do from then on. */
  readonly kept?: string
}

/** Undefined when no key ends. Without `mayKeep` the keys are named and cannot be kept. */
export function keyChoice(keys: readonly ApiKey[], { mayKeep, kept }: KeyChoice): Html | undefined {
  if (keys.length === 0) return undefined
  const [which, keep] = keys.length === 1 ? ['This API key ends', 'keep it'] : [`These ${keys.length} API keys end`, 'keep them']
  return html`<fieldset class="checks">
    <legend>${which} at once${mayKeep && `, unless you ${keep}`}.</legend>
    ${keys.map((key) => row(key, mayKeep))} ${mayKeep && kept !== undefined && html`<p class="hint">${kept}</p>`}
  </fieldset>`
}

const row = ({ id, name, preview, sendOnly, scopes }: ApiKey, mayKeep: boolean): Html => {
  const words = html`${name} <span class="meta">${preview} · ${sendOnly ? 'sends only' : scopes.at(-1)}</span>`
  if (!mayKeep) return html`<p>${words}</p>`
  return html`<label class="check"><input type="checkbox" name="${field}" value="${id}" /><span>Keep ${words}</span></label>`
}

/** The ids that were ticked. */
export const keysToKeep = (form: URLSearchParams): readonly string[] => form.getAll(field)
