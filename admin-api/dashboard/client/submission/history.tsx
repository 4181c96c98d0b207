/** What happened to a submission, by what is known of it. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { longTime } from '../parts/time.ts'
import { words } from '../submissions/submissions-words.ts'
import type { FormSubmission } from '../wire/operations.ts'

export function History({ submission }: { readonly submission: FormSubmission }): JSX.Element {
  const w = words()
  const { version, created_at: created, updated_at: updated, origin, ip, unknown_keys: unknown } = submission
  return (
    <section class="sub-section">
      <h3>{w.history}</h3>
      <ul class="faint">
        <li>{w.received(longTime(created), version)}</li>
        {updated !== created && <li>{w.changedAt(longTime(updated))}</li>}
        {origin !== null && (
          <li>
            {w.fromPage} <SafeText text={origin} />
          </li>
        )}
        {ip !== null && (
          <li>
            {w.fromAddress}{' '}
            <code title={ip}>
              <SafeText text={ip.slice(0, 40)} />
            </code>
          </li>
        )}
        {unknown > 0 && <li>{w.unknownKeys(unknown)}</li>}
      </ul>
    </section>
  )
}
