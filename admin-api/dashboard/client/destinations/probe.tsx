/** Connection test of a destination, step by step, with the settings of real deliveries. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { keyFor, useKeys } from '../app/keys.ts'
import { asFault } from '../app/query.ts'
import type { ApiFault } from '../app/api.ts'
import { useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { DestinationTest } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

export function Probe({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const [result, setResult] = useState<DestinationTest>()
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const run = async (): Promise<void> => {
    setFault(undefined)
    try {
      setResult(await call('POST /v1/destinations/{id}/test', { path: { id } }))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  useKeys({ t: () => start(run) }, [isBusy])
  return (
    <div class="block" aria-live="polite">
      <div class="actions">
        <h2>{w.connection}</h2>
        {result && <span class={result.ok ? 'tag good' : 'tag bad'}>{result.ok ? w.passed : w.notPassed}</span>}
        <button class="button small end" aria-disabled={isBusy} aria-keyshortcuts={keyFor('t')} onClick={() => start(run)}>
          {isBusy ? w.testing : w.testConnection}
        </button>
      </div>
      <Fault fault={fault} />
      {result ? (
        <ul class="checks">
          {result.steps.map(({ step, ok, detail, milliseconds }) => (
            <li key={step}>
              <Mark name={ok ? 'ok' : 'failed'} />
              <div>
                <b>{step}</b>
                <p lang="en">
                  <SafeText text={detail} />
                </p>
              </div>
              <span class="faint">{milliseconds} ms</span>
            </li>
          ))}
        </ul>
      ) : (
        <p class="soft">{w.connectionText}</p>
      )}
    </div>
  )
}
