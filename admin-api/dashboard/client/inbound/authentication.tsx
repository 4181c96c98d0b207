/** SPF, DKIM, DMARC and ARC results of a received message, and its envelope. */
import type { JSX } from 'preact'
import { Mark } from '../parts/mark.tsx'
import { Facts, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { bytes } from '../parts/time.ts'
import type { InboundAuthentication, InboundMessageSummary } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './inbound-texts.ts'

/** Returns the mark of a result (RFC 8601 §2.7). Missing results and lookup errors are not failures. */
function markOf(result: string): string {
  if (result === 'pass') return 'ok'
  if (result === 'none' || result === 'neutral' || result === 'policy') return 'none'
  return result === 'temperror' || result === 'permerror' || result === 'softfail' ? 'warning' : 'failed'
}

const Result = ({ result, method = '' }: { readonly result: string; readonly method?: string }): JSX.Element => (
  <span class="status">
    <Mark name={markOf(result)} />
    <code>
      <SafeText text={method === '' ? result : `${method}=${result}`} />
    </code>
  </span>
)

export const Dmarc = ({ authentication }: Pick<InboundMessageSummary, 'authentication'>): JSX.Element =>
  authentication === null ? <>–</> : <Result result={authentication.dmarc.result} />

/** SPF, DKIM and DMARC results in one line. */
export const SenderResults = ({
  authentication: { spf, dkim, dmarc },
}: {
  readonly authentication: InboundAuthentication
}): JSX.Element => (
  <ul class="auth-results">
    <li>
      <Result method="spf" result={spf.result} />
    </li>
    {[...new Set(dkim.map(({ result }) => result))].map((result) => (
      <li key={result}>
        <Result method="dkim" result={result} />
      </li>
    ))}
    <li>
      <Result method="dmarc" result={dmarc.result} />
    </li>
  </ul>
)

/** All checks, each with its domain. */
export function SenderTab({ mail }: { readonly mail: InboundMessageSummary }): JSX.Element {
  const w = texts()
  return (
    <div class="why">
      <h3>{w.checks}</h3>
      {mail.authentication === null ? (
        <State title={w.notChecked} text={w.notHandedOverText} />
      ) : (
        <>
          <p class="soft">{w.checksText}</p>
          <Checks authentication={mail.authentication} />
        </>
      )}
      <h3>{w.envelope}</h3>
      <Envelope mail={mail} />
    </div>
  )
}

function Checks({ authentication: { spf, dkim, dmarc, arc } }: { readonly authentication: InboundAuthentication }): JSX.Element {
  const w = texts()
  const rows = [
    { name: 'SPF', result: spf.result, about: spf.domain ?? '–' },
    ...dkim.map(({ result, domain, selector }) => ({
      ...{ name: 'DKIM', result },
      about: [selector, domain].filter((part) => part !== null).join('._domainkey.') || '–',
    })),
    {
      name: 'DMARC',
      result: dmarc.result,
      about: dmarc.policy === null ? (dmarc.domain ?? '–') : `${dmarc.domain ?? '–'}, ${w.policy} ${dmarc.policy}`,
    },
    { name: 'ARC', result: arc.result, about: '–' },
  ]
  return (
    <Facts
      rows={rows.map(({ name, result, about }) => [
        name,
        <>
          <Result result={result} /> <SafeText text={about} />
        </>,
      ])}
    />
  )
}

function Envelope({ mail }: { readonly mail: InboundMessageSummary }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const rows = [
    [w.returnPath, mail.envelope_from || `<> (${w.nullPath})`],
    [w.recipients, mail.envelope_to.join(', ')],
    [w.cameFrom, mail.remote_address],
    [w.greeting, mail.helo],
    [w.encrypted, mail.tls ? w.yes : w.no],
    [common.size, bytes(mail.size)],
  ] as const
  return <Facts rows={rows} />
}
