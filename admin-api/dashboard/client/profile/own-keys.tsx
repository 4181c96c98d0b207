/** Shortcut settings: each single key and its replacement. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ownKeys, pressedFor, type OwnKey } from '../app/keys.ts'
import { keyMap, resetKeys, setKey } from '../app/settings.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './profile-texts.ts'

export function OwnKeys(): JSX.Element {
  const w = texts()
  return (
    <details class="own-keys">
      <summary>{w.keys}</summary>
      <p class="soft">{w.keysText}</p>
      <ul>
        {ownKeys.map((key) => (
          <KeyField key={key} name={key} does={w.keyNames[key]} />
        ))}
      </ul>
      <button class="button small" type="button" aria-disabled={Object.keys(keyMap.value).length === 0} onClick={resetKeys}>
        {w.keysReset}
      </button>
    </details>
  )
}

/** Field that takes the next pressed key. */
function KeyField({ name, does }: { readonly name: OwnKey; readonly does: string }): JSX.Element {
  const [isTaken, setTaken] = useState(false)
  const id = `key-${String(ownKeys.indexOf(name))}`
  const choose = (event: KeyboardEvent): void => {
    if (event.key.length !== 1 || event.key === ' ' || event.metaKey || event.ctrlKey || event.altKey) return
    event.preventDefault()
    const isOther = ownKeys.some((one) => one !== name && pressedFor(one) === event.key)
    setTaken(isOther)
    if (!isOther) setKey(name, event.key)
  }
  return (
    <li>
      <label for={id}>{does}</label>
      <input
        id={id}
        class="input mono"
        value={pressedFor(name)}
        readOnly
        aria-invalid={isTaken}
        aria-describedby={isTaken ? `${id}-taken` : undefined}
        onKeyDown={choose}
        onBlur={() => setTaken(false)}
      />
      {isTaken && (
        <small id={`${id}-taken`} class="wrong" role="alert">
          {allTexts().keyTaken}
        </small>
      )}
    </li>
  )
}
