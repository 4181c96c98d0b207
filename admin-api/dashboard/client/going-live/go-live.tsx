/** Steps 3 to 5 of going live. The step follows from the destination, so that a person who returns continues there. */
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead, useTicks } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { SafeText, plain } from '../parts/safe-text.tsx'
import { Loading, Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import type { Destination, DestinationTest } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Checks } from './checks.tsx'
import { checkVerdict, type CheckVerdict } from './check-verdict.ts'
import { FirstMail } from './first-mail.tsx'
import { Flow } from './flow.tsx'
import { texts } from './going-live-texts.ts'
import { keepTyped, LoginStep, typedFor } from './login-step.tsx'
import { RouteStep } from './route-step.tsx'
import { senderOf } from './sender-of.ts'

/** Evidence that is older is collected again. */
const freshMs = 600_000
/** Polling interval while the test message is on its way. */
const lookEveryMs = 3000

interface GoLiveProps {
  readonly id: string
  /** Part of the address after `go-live`. */
  readonly part: string | undefined
}

export function GoLive({ id, part }: GoLiveProps): JSX.Element {
  const read = useRead('/v1/destinations/{id}', { path: { id } }, { isShown: true })
  const destination = read.data
  if (!destination)
    return (
      <Flow step={3}>
        <section>
          <Show read={read} reload={read.reload} failure={allTexts().destinationFailed} rows={5}>
            {() => null}
          </Show>
        </section>
      </Flow>
    )
  if (part === 'login') return <LoginStep destination={destination} onSaved={read.reload} />
  if (destination.mode === 'live') return <FirstMail destination={destination} />
  return <Check key={destination.updated_at} destination={destination} onChange={read.reload} />
}

interface CheckProps {
  readonly destination: Destination
  readonly onChange: () => void
}

function Check({ destination, onChange }: CheckProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { id, name } = destination
  const read = useRead('/v1/destinations/{id}/evidence', { path: { id } })
  const [test, setTest] = useState<DestinationTest>()
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const began = useRef(false)
  const kept = read.data?.evidence
  const evidence = kept && kept.at >= destination.updated_at ? kept : undefined
  useTicks(evidence?.proof?.status === 'waiting' ? lookEveryMs : undefined, read.refresh)
  const run = async (): Promise<void> => {
    setFault(undefined)
    setTest(undefined)
    try {
      // the service refuses a test message through a destination that fails
      const probe = await call('POST /v1/destinations/{id}/test', { path: { id } })
      setTest(probe)
      const body = probe.ok ? { send_test: true, from: senderOf(destination) } : {}
      await call('POST /v1/destinations/{id}/evidence', { path: { id }, body })
    } catch (error) {
      setFault(asFault(error)) // the service stores the evidence although it sent no test message
    }
    read.reload()
  }
  useEffect(() => {
    if (read.data === undefined || began.current || !mayChange.value) return
    began.current = true
    if (!evidence || Date.parse(evidence.at) < Date.now() - freshMs) start(run)
  }, [read.data])
  const steps = isBusy ? test?.steps : (evidence?.probe.steps ?? test?.steps)
  const isChecking = isBusy || (!evidence && mayChange.value && !fault)
  const verdict = !isChecking && steps ? checkVerdict(destination, steps, evidence?.domains ?? []) : undefined
  if (verdict?.says === 'refused')
    return <LoginStep destination={destination} problem={<Refused name={name} reply={verdict.reply} />} onSaved={onChange} />
  return (
    <Flow step={3} results={{ 1: plain(name), 2: senderOf(destination) }} destination={destination}>
      <section aria-labelledby="check" aria-live="polite" aria-busy={isChecking}>
        <div class="say">
          <h2 id="check">{verdict ? headingOf(plain(name), verdict) : w.checking({ name: plain(name) })}</h2>
          {verdict && <Advice {...{ destination, verdict, onChange }} />}
          {!isChecking && evidence && (
            <p>
              {w.checkedAt({ at: longTime(evidence.at) })}{' '}
              {mayChange.value && (
                <button class="as-link" onClick={() => start(run)}>
                  {common.checkAgain}
                </button>
              )}
            </p>
          )}
        </div>
        {read.state === 'loading' && !steps ? (
          <Loading rows={5} />
        ) : (
          <Checks {...{ destination, steps, isChecking, fault }} evidence={isBusy ? undefined : evidence} />
        )}
      </section>
      <aside aria-label={w.goLiveStep}>
        <RouteStep destination={destination} isAnyway={verdict !== undefined && verdict.says !== 'works'} onLive={onChange} />
      </aside>
    </Flow>
  )
}

function headingOf(name: string, verdict: CheckVerdict): string {
  const w = texts()
  switch (verdict.says) {
    case 'works':
      return [w.works({ name }), ...(verdict.toImprove > 0 ? [w.toImprove({ n: verdict.toImprove })] : [])].join(' ')
    case 'spam':
      return w.spam({ domain: verdict.domain, record: verdict.record })
    case 'silent':
      return w.silent({ host: verdict.host, port: verdict.port })
    case 'certificate':
      return w.certificate({ found: verdict.found, host: verdict.host })
    case 'refused':
      return w.loginRefused({ name })
    case 'failed':
      return w.cannotSend({ name })
  }
}

interface AdviceProps {
  readonly destination: Destination
  readonly verdict: CheckVerdict
  readonly onChange: () => void
}

/** What helps: one button that changes the server. The service requires the password again; if it was not typed here, the form asks. */
function Advice({ destination, verdict, onChange }: AdviceProps): JSX.Element | null {
  const w = texts()
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  if (verdict.says === 'failed')
    return (
      <p lang="en">
        <SafeText text={verdict.detail} />
      </p>
    )
  if (verdict.says !== 'silent' && verdict.says !== 'certificate') return null
  const change =
    verdict.says === 'certificate'
      ? { host: verdict.found }
      : { port: verdict.tryPort, security: verdict.tryPort === 465 ? ('tls' as const) : ('starttls' as const) }
  const { id, credentials } = destination
  const apply = async (): Promise<void> => {
    const password = typedFor(id)?.['password']
    keepTyped(id, Object.fromEntries(Object.entries(change).map(([field, value]) => [field, String(value)])))
    if (credentials['has_password'] === true && password === undefined) return go(link(`/destinations/${id}/go-live/login`))
    try {
      await call('PATCH /v1/destinations/{id}', {
        path: { id },
        body: { credentials: { ...change, ...(password !== undefined && { password }) } },
      })
      onChange()
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <>
      {verdict.says === 'silent' && <p>{w.silentText}</p>}
      {mayChange.value && (
        <div class="actions">
          <button class="button primary" aria-disabled={isBusy} onClick={() => start(apply)}>
            {verdict.says === 'certificate' ? w.useHost({ host: verdict.found }) : w.tryPort({ port: verdict.tryPort })}
          </button>
          <a class="button" href={link(`/destinations/${id}/go-live/login`)}>
            {w.changeLogin}
          </a>
        </div>
      )}
      <Fault fault={fault} />
    </>
  )
}

const Refused = ({ name, reply }: { readonly name: string; readonly reply: string }): JSX.Element => (
  <div role="alert">
    <h2 id="login">{texts().loginRefused({ name: plain(name) })}</h2>
    <code class="wire-line" lang="en">
      <SafeText text={reply} />
    </code>
    <p>{texts().loginAdvice}</p>
  </div>
)
