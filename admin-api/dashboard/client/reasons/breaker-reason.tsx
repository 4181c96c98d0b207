/** Reason of a paused destination in the current language, from the codes of the service. Provider responses stay untranslated. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { number } from '../parts/time.ts'
import type { KnownDestinationHealth } from '../wire/api.d.ts'
import { texts } from './reasons-texts.ts'

type Cause = KnownDestinationHealth['breaker']['cause']

export function BreakerReason({ cause }: { readonly cause: Cause }): JSX.Element | null {
  if (cause === null) return null
  const { code, failed, attempts, error } = cause
  const says = texts().breaker[code]
  return (
    <>
      {typeof says === 'string' ? says : says({ failed: number(failed), attempts: number(attempts) })} <ErrorSaid {...error} />
    </>
  )
}

/** Translated error and the quoted response. The response follows the first sentence of the message. */
function ErrorSaid({ code, message }: NonNullable<Cause>['error']): JSX.Element {
  const known: Readonly<Record<string, string>> = texts().errors
  const said = message.indexOf('. ')
  const quoted = Object.hasOwn(known, code) ? (said < 0 ? '' : message.slice(said + 2)) : message
  return (
    <>
      {Object.hasOwn(known, code) && known[code]}{' '}
      {quoted !== '' && (
        <span lang="en">
          <SafeText text={quoted} />
        </span>
      )}
    </>
  )
}
