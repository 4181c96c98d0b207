/** Timeline entry of a delivery attempt: target, verbatim replies and the duration of each step. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { span } from '../parts/time.ts'
import { language } from '../texts/language.ts'
import { texts as timelineTexts } from '../timeline/timeline-texts.ts'
import { texts } from '../texts/texts.ts'

/** `detail` of the `attempt` event. */
export interface AttemptDetail {
  readonly attempt: number
  readonly state: 'started' | 'finished' | 'unknown'
  readonly host: string | null
  readonly port: number | null
  readonly address: string | null
  readonly tls: { readonly version: string; readonly cipher: string; readonly verified: boolean } | null
  readonly connection_reused: boolean | null
  readonly error: { readonly code: string; readonly message: string; readonly phase: string } | null
  readonly milliseconds: Readonly<Record<string, number>>
  readonly recipients: readonly {
    readonly address: string
    readonly verdict: 'accepted' | 'transient' | 'permanent' | 'unknown'
    readonly reply: { readonly code: number; readonly enhanced?: string; readonly text: string } | null
  }[]
}

const tones = { accepted: 'good', transient: 'warn', permanent: 'bad', unknown: 'warn' } as const

export function AttemptEntry({ detail, message }: { readonly detail: AttemptDetail; readonly message: string }): JSX.Element {
  const w = texts()
  const { attempt, host, port, tls, connection_reused: reused, error, state, milliseconds } = detail
  const total = totalOf(milliseconds)
  const place = [host === null ? '' : `${host}:${String(port)}`, total > 0 ? span(total) : '', reused ? w.reused : '']
    .filter(Boolean)
    .join(', ')
  return (
    <>
      <h3>
        {w.attempt({ n: attempt, outcome: outcomeOf(detail) })} <span>{place}</span>
      </h3>
      {repliesOf(detail).map(({ tone, code, text, addresses }, i) => (
        <div key={i}>
          <div class={`wire ${tone}`}>
            <i>{code}</i> <SafeText text={text} />
          </div>
          {detail.recipients.length > 1 && (
            <p class="faint">{addresses.length > 3 ? w.forRecipients({ count: addresses.length }) : addresses.join(', ')}</p>
          )}
        </div>
      ))}
      {error && (
        <div class="wire bad">
          <i>{error.code}</i> <SafeText text={error.message} />
        </div>
      )}
      {state === 'unknown' && <p>{language.value === 'en' ? <SafeText text={message} /> : timelineTexts().unknownEnd}</p>}
      <Phases milliseconds={milliseconds} />
      {tls && (
        <p class="details">
          <span class="fact">
            tls <span>{`${tls.version}, ${tls.cipher}, ${tls.verified ? w.certificateVerified : w.certificateNotVerified}`}</span>
          </span>
        </p>
      )}
    </>
  )
}

type Outcome = 'running' | 'unknown' | 'taken' | 'late' | 'refused' | 'mixed' | 'broken'

function outcomeOf({ state, recipients, error }: AttemptDetail): Outcome {
  if (state === 'started') return 'running'
  if (state === 'unknown') return 'unknown'
  const verdicts = new Set(recipients.map(({ verdict }) => verdict))
  if (verdicts.size > 1) return 'mixed'
  if (verdicts.has('accepted')) return 'taken'
  if (verdicts.has('permanent')) return 'refused'
  return verdicts.has('transient') && !error ? 'late' : 'broken'
}

interface Reply {
  readonly tone: string
  readonly code: number
  readonly text: string
  readonly addresses: string[]
}

/** Groups equal replies, each with all of its recipients. */
function repliesOf({ recipients }: AttemptDetail): readonly Reply[] {
  const replies = new Map<string, Reply>()
  for (const { reply, verdict, address } of recipients) {
    if (!reply) continue
    const text = `${reply.enhanced === undefined ? '' : `${reply.enhanced} `}${reply.text}`
    const key = `${verdict} ${String(reply.code)} ${text}`
    const known = replies.get(key) ?? { tone: tones[verdict], code: reply.code, text, addresses: [] }
    known.addresses.push(address)
    replies.set(key, known)
  }
  return [...replies.values()]
}

/** Steps of the SMTP dialog in order, with widths by duration. */
function Phases({ milliseconds }: { readonly milliseconds: Readonly<Record<string, number>> }): JSX.Element | null {
  const steps = Object.entries(milliseconds).filter(([name, value]) => value > 0 && name !== 'total')
  const sum = steps.reduce((so, [, value]) => so + value, 0)
  if (sum === 0) return null
  let at = 0
  return (
    <div class="phases">
      <svg viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true">
        {steps.map(([name, value], i) => {
          const x = at
          at += (value / sum) * 1000
          return <rect key={name} x={x} width={Math.max(3, at - x - 3)} height="4" class={`shade-${String(i % 3)}`} />
        })}
      </svg>
      <p>
        {steps.map(([name, value]) => (
          <span key={name}>
            {name} <b>{value}</b>
          </span>
        ))}
        <span>{span(totalOf(milliseconds))}</span>
      </p>
    </div>
  )
}

const totalOf = ({ total, ...steps }: Readonly<Record<string, number>>): number =>
  total ?? Object.values(steps).reduce((sum, one) => sum + one, 0)
