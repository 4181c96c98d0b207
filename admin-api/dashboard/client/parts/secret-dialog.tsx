/** Dialog for a secret that is shown once. It closes only after the user confirms that the secret is stored, and blocks Back until then. */
import type { JSX } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { save } from '../app/api.ts'
import { holdHere } from '../app/location.ts'
import { texts } from '../texts/texts.ts'
import { copy, Dialog } from './controls.tsx'
import { Icon } from './icon.tsx'

export interface Secret {
  readonly title: string
  /** API names and values. The secret is the last one. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** Explains how to replace a lost secret. */
  readonly note: string
}

export function SecretDialog({ secret, onDone }: { readonly secret: Secret; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [isStored, setStored] = useState(false)
  useLayoutEffect(() => (isStored ? undefined : holdHere()), [isStored])
  const { title, fields, note } = secret
  const environment = fields.map(([name, value]) => `${name.toUpperCase()}=${value}\n`).join('')
  return (
    <Dialog title={title}>
      <div>
        <div class="actions">
          <span class="arch">
            <Icon name="keys" />
          </span>
          <div>
            <h2>{title}</h2>
            <p class="lead">{w.shownOnce}</p>
          </div>
        </div>
        <div class="secret">
          {fields.map(([name, value]) => (
            <div key={name}>
              <small>{name}</small>
              <span data-secret={name}>{value}</span>
            </div>
          ))}
        </div>
        <div class="actions">
          <button class="button" onClick={() => void copy(fields.at(-1)?.[1] ?? '')}>
            <Icon name="copy" />
            {w.copy}
          </button>
          <button class="button" onClick={() => void save(new Blob([environment], { type: 'text/plain' }), 'postern.env')}>
            <Icon name="download" />
            {w.downloadEnv}
          </button>
        </div>
        <label class="check">
          <input type="checkbox" checked={isStored} onChange={(event) => setStored(event.currentTarget.checked)} />
          <span>
            <b>{w.iStoredIt}</b>
            <br />
            <span class="faint">{note}</span>
          </span>
        </label>
        <footer>
          <button class="button primary" aria-disabled={!isStored} onClick={() => isStored && onDone()}>
            {w.done}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}
