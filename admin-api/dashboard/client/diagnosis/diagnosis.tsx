/** Diagnosis above the timeline: why a message bounced or may not have arrived, and the next steps. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { ChooseField } from '../parts/controls.tsx'
import { Facts, SafeText } from '../parts/safe-text.tsx'
import { percent } from '../parts/time.ts'
import { Show } from '../parts/states.tsx'
import type { BounceDiagnosis, MissingDiagnosis, Trace } from '../wire/api.d.ts'
import { language } from '../texts/language.ts'
import { texts } from './diagnosis-texts.ts'
import { categoryAction, categoryReason, hypothesisReason } from './explained.ts'

const bad = new Set(['bounced', 'failed', 'complained'])
const isEnglish = (): boolean => language.value === 'en'

/** Original English text of the service. Collapsed in other languages, which show a translation. */
const InFull = ({ children }: { readonly children: ComponentChildren }): JSX.Element =>
  isEnglish() ? (
    <>{children}</>
  ) : (
    <details>
      <summary>{texts().inFull}</summary>
      <div lang="en">{children}</div>
    </details>
  )
const maxChoices = 50

export function Diagnosis({ trace }: { readonly trace: Trace }): JSX.Element {
  const own = texts()
  const [recipient, setRecipient] = useState(trace.to[0] ?? '')
  const status = trace.recipients.find(({ address }) => address === recipient)?.status ?? trace.status
  return (
    <section class="diagnosis" aria-label={own.diagnosis}>
      {trace.to.length > 1 && (
        <ChooseField
          label={own.diagnosisOf}
          value={recipient}
          onChange={setRecipient}
          options={trace.to.slice(0, maxChoices).map((address) => [address, address])}
        />
      )}
      {bad.has(status) ? <Bounced trace={trace} recipient={recipient} /> : <Missing trace={trace} recipient={recipient} />}
    </section>
  )
}

interface OfRecipient {
  readonly trace: Trace
  readonly recipient: string
}

function Bounced({ trace, recipient }: OfRecipient): JSX.Element {
  const read = useRead('/v1/diagnose/bounce', { query: { message_id: trace.trace_id, ...(recipient !== '' && { recipient }) } })
  return (
    <Show read={read} reload={read.reload} failure={texts().diagnosisFailed} rows={2}>
      {(found) => <BounceFacts found={found} isFirst={trace.to.length === 1} />}
    </Show>
  )
}

/** Facts about a bounce. Omits the reason for a single recipient, because the verdict shows it already. */
function BounceFacts({ found, isFirst }: { readonly found: BounceDiagnosis; readonly isFirst: boolean }): JSX.Element {
  const own = texts()
  const facts = [
    [own.stage, found.stage],
    [own.category, found.category],
    ['bounce', found.bounce],
    [own.provider, found.provider],
    [own.sameReply, found.related && String(found.related.same_reply_last_24h)],
  ] as const
  return (
    <>
      {!isEnglish() && !isFirst && (
        <p>
          <Explained category={found.category} />
        </p>
      )}
      <InFull>
        {!(isFirst && isEnglish()) && (
          <p>
            <b>
              <SafeText text={found.plain_reason} />
            </b>
          </p>
        )}
        <ol>
          {found.next_actions.map((action) => (
            <li key={action}>
              <SafeText text={action} />
            </li>
          ))}
        </ol>
      </InFull>
      <Facts rows={facts.flatMap(([name, value]) => (value === null ? [] : [[name, value.replaceAll('_', ' ')]]))} />
      {found.retry && <p>{found.retry.useful ? own.retryUseful : own.retryUseless}</p>}
    </>
  )
}

const aroundMs = 60_000

/** Hypotheses for the time since the message was accepted. */
function Missing({ trace, recipient }: OfRecipient): JSX.Element {
  const from = new Date(Date.parse(trace.created_at) - aroundMs).toISOString()
  const [until] = useState(() => new Date().toISOString())
  const read = useRead('/v1/diagnose/missing', recipient === '' ? undefined : { query: { recipient, time_window: `${from}/${until}` } })
  return (
    <Show read={read} reload={read.reload} failure={texts().diagnosisFailed} rows={2}>
      {(found) => <Hypotheses found={found} shown={trace.trace_id} />}
    </Show>
  )
}

function Hypotheses({ found, shown }: { readonly found: MissingDiagnosis; readonly shown: string }): JSX.Element {
  const own = texts()
  return (
    <>
      {!isEnglish() && (
        <ul>
          {found.hypotheses.map(({ id, confidence }) => (
            <li key={id}>
              {hypothesisReason(id) ?? <code>{id}</code>} <span class="faint">{percent(confidence, 0)}</span>
            </li>
          ))}
        </ul>
      )}
      {found.hypotheses.length === 0 && <p>{own.nothingFound}</p>}
      <InFull>
        <p>
          <b>
            <SafeText text={found.summary} />
          </b>
        </p>
        <Explanations found={found} shown={shown} />
        {found.not_checked.length > 0 && (
          <p class="faint">
            <span lang={language.value}>{own.notChecked}</span>: {found.not_checked.map(({ what, why }) => `${what} (${why})`).join('; ')}
          </p>
        )}
      </InFull>
    </>
  )
}

const Explanations = ({ found, shown }: { readonly found: MissingDiagnosis; readonly shown: string }): JSX.Element => (
  <ol>
    {found.hypotheses.map(({ id, explanation, confidence, evidence, next_action: next }) => (
      <li key={id}>
        <SafeText text={explanation} /> <span class="faint">{percent(confidence, 0)}</span>
        <p>
          <SafeText text={next.text} />
        </p>
        {evidence.length > 0 && (
          <details>
            <summary lang={language.value}>{texts().evidence}</summary>
            <ul>
              {evidence.map(({ detail, trace_id: id }, i) => (
                <li key={i}>
                  <SafeText text={detail} /> {id !== undefined && id !== shown && <a href={link(`/traces/${id}`)}>{id.slice(0, 8)}</a>}
                </li>
              ))}
            </ul>
          </details>
        )}
      </li>
    ))}
  </ol>
)

/** Reason and next step for the category of a rejection. */
export const Explained = ({ category }: { readonly category: string | null }): JSX.Element => (
  <>
    <b>{categoryReason(category) ?? texts().categories.undetermined}</b> {categoryAction(category)}
  </>
)
