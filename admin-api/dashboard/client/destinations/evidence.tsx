/** Evidence for a promotion: collected on request, stored with the destination, and shown with its date. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call, type ApiFault } from '../app/api.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead, useTicks } from '../app/query.ts'
import { ChooseField, TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show } from '../parts/states.tsx'
import { longTime } from '../parts/time.ts'
import type { DestinationEvidence } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './evidence-texts.ts'

/** Polling interval during a test. */
const lookEveryMs = 3000

interface EvidenceProps {
  readonly id: string
  /** From address of the destination. */
  readonly from: string | null
}

export function Evidence({ id, from }: EvidenceProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/destinations/{id}/evidence', { path: { id } })
  const evidence = read.data?.evidence ?? undefined
  useTicks(evidence?.proof?.status === 'waiting' ? lookEveryMs : undefined, read.refresh)
  return (
    <div class="block" aria-live="polite">
      <h2>{common.evidence}</h2>
      <Show read={read} reload={read.reload} failure={w.evidenceFailed} rows={3}>
        {() => (evidence ? <Found evidence={evidence} /> : <p class="soft">{w.notCollected}</p>)}
      </Show>
      {mayChange.value && <Collect id={id} from={from} onDone={read.reload} />}
    </div>
  )
}

interface CollectProps {
  readonly id: string
  readonly from: string | null
  readonly onDone: () => void
}

function Collect({ id, from, onDone }: CollectProps): JSX.Element {
  const w = texts()
  const tests = useAll('/v1/inspect/tests', {})
  const scored = tests.rows.filter(({ score }) => score !== null)
  const [test, setTest] = useState('')
  const [sendsTest, setSendsTest] = useState(false)
  const [sender, setSender] = useState(from ?? '')
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const run = async (): Promise<void> => {
    setFault(undefined)
    const own = sendsTest ? { send_test: true, ...(sender.trim() !== '' && { from: sender.trim() }) } : {}
    try {
      await call('POST /v1/destinations/{id}/evidence', { path: { id }, body: !sendsTest && test !== '' ? { inspect_test_id: test } : own })
    } catch (error) {
      setFault(asFault(error))
    }
    onDone()
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        start(run)
      }}
    >
      <label class="check">
        <input type="checkbox" checked={sendsTest} onChange={(event) => setSendsTest(event.currentTarget.checked)} />
        {w.sendTest}
      </label>
      <p class="faint">{w.sendTestHint}</p>
      {sendsTest && <TextField label={w.testFrom} value={sender} onChange={setSender} fault={fault?.fields.get('from')} />}
      {!sendsTest && scored.length > 0 && (
        <ChooseField
          label={w.score}
          hint={w.testHint}
          value={test}
          onChange={setTest}
          of={tests}
          options={[['', w.noTest], ...scored.map(({ id: one, address, score }) => [one, `${address} (${String(score)})`] as const)]}
        />
      )}
      <Fault fault={fault} />
      <div class="actions">
        <button class="button" aria-disabled={isBusy}>
          {isBusy ? w.collecting : sendsTest ? w.collectAndSend : w.collect}
        </button>
      </div>
    </form>
  )
}

function Found({ evidence }: { readonly evidence: DestinationEvidence }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { at, mode, probe, domains, dry_run: dryRun, inspect, proof } = evidence
  return (
    <>
      <p class="faint">
        {w.collectedAt({ at: longTime(at) })}, {mode === 'live' ? w.asLive : w.asSandbox}
      </p>
      <h3>
        {w.connection} <span class={probe.ok ? 'tag good' : 'tag bad'}>{probe.ok ? common.passed : common.notPassed}</span>
      </h3>
      <ul class="checks">
        {probe.steps.map(({ step, ok, detail, milliseconds }) => (
          <Check key={step} mark={ok ? 'ok' : 'failed'} name={step} right={`${String(Math.round(milliseconds))} ms`}>
            <span lang="en">
              <SafeText text={detail} />
            </span>
          </Check>
        ))}
      </ul>
      <h3>{common.senderDomains}</h3>
      {domains.length === 0 && (
        <p class="soft">
          {common.noDomainsText} <a href={link('/domains', { new: '1' })}>{common.addDomain}</a>
        </p>
      )}
      <ul class="checks">
        {domains.map(({ id, domain, records }) => (
          <Check
            key={id}
            mark={records.every(({ required, verdict }) => !required || verdict === 'ok') ? 'ok' : 'warning'}
            name={<a href={link(`/domains/${id}`)}>{domain}</a>}
          >
            {records.map(({ purpose, verdict }) => `${purpose} ${verdict ?? w.notLookedUp}`).join(' · ')}
          </Check>
        ))}
      </ul>
      <h3>{common.dryRun}</h3>
      {dryRun.messages === 0 ? <p class="soft">{common.dryRunNone}</p> : <DryRun dryRun={dryRun} />}
      {proof && <Proof proof={proof} />}
      {inspect && (
        <>
          <h3>{w.score}</h3>
          <p>
            {w.scoreOf({ score: inspect.score, grade: inspect.grade })} <a href={link(`/inspect/${inspect.test_id}`)}>{w.showReport}</a>
          </p>
        </>
      )}
    </>
  )
}

/** State of the latest test message. */
function Proof({ proof }: { readonly proof: NonNullable<DestinationEvidence['proof']> }): JSX.Element {
  const w = texts()
  const names = {
    waiting: w.proofWaiting,
    scored: w.proofScored,
    failed: w.proofFailed,
    elsewhere: w.proofElsewhere,
    expired: w.proofExpired,
  }
  const marks = { waiting: 'sent', scored: 'ok', failed: 'failed', elsewhere: 'warning', expired: 'warning' }
  return (
    <>
      <h3>{w.proof}</h3>
      <ul class="checks">
        <Check mark={marks[proof.status]} name={names[proof.status]}>
          <>
            {longTime(proof.at)} · <a href={link(`/traces/${proof.trace_id}`)}>{w.proofTrace}</a> ·{' '}
            <a href={link(`/inspect/${proof.test_id}`)}>{w.showReport}</a>
          </>
        </Check>
      </ul>
    </>
  )
}

interface CheckProps {
  readonly mark: string
  readonly name: JSX.Element | string
  readonly right?: string
  readonly children: JSX.Element | string
}

const Check = ({ mark, name, right, children }: CheckProps): JSX.Element => (
  <li>
    <Mark name={mark} />
    <div>
      <b>{name}</b>
      <p>{children}</p>
    </div>
    {right !== undefined && <span class="faint">{right}</span>}
  </li>
)

function DryRun({ dryRun }: { readonly dryRun: DestinationEvidence['dry_run'] }): JSX.Element {
  const common = allTexts()
  const sums = [
    ['relayed', dryRun.relayed, common.wouldRelay],
    ['suppressed', dryRun.suppressed, common.wouldSuppress],
    ['refused', dryRun.refused, common.wouldRefuse],
    ['none', dryRun.elsewhere, common.wouldGoElsewhere],
  ] as const
  return (
    <>
      <p class="faint">{texts().of({ n: dryRun.messages })}</p>
      <ul class="would">
        {sums.map(([mark, count, text]) => (
          <li key={mark}>
            <Mark name={mark} />
            <b>{count}</b> {text}
          </li>
        ))}
      </ul>
    </>
  )
}
