/** Evidence of step 3: connection, sender domains and the test message. Each part appears with its result. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiFault } from '../app/api.ts'
import { link } from '../app/location.ts'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import type { Destination, DestinationEvidence } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { placeOf } from '../destinations/destination-texts.tsx'
import { texts as evidenceTexts } from '../destinations/evidence-texts.ts'
import { texts } from './going-live-texts.ts'

/** The test message counts as late afterwards. */
const lateMs = 60_000

interface ChecksProps {
  readonly destination: Destination
  readonly steps: DestinationEvidence['probe']['steps'] | undefined
  /** Undefined while it is collected. */
  readonly evidence: DestinationEvidence | undefined
  readonly isChecking: boolean
  /** Why the test message was not sent. */
  readonly fault: ApiFault | undefined
}

export function Checks({ destination, steps, evidence, isChecking, fault }: ChecksProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const isOk = steps?.every(({ ok }) => ok)
  return (
    <>
      <Part
        title={w.connection}
        place={placeOf(destination)}
        tag={steps && <span class={isOk ? 'tag good' : 'tag bad'}>{isOk ? common.passed : common.notPassed}</span>}
      >
        {steps ? (
          steps.map(({ step, ok, detail, milliseconds }) => (
            <Row key={step} mark={ok ? 'ok' : 'failed'} name={nameOf(step)} right={`${String(Math.round(milliseconds))} ms`}>
              <span lang="en">
                <SafeText text={detail} />
              </span>
            </Row>
          ))
        ) : (
          <Row mark="pending" name={w.connecting} />
        )}
      </Part>
      {isOk !== false && <Domains domains={evidence?.domains} />}
      {isOk !== false && (
        <Part title={w.testMessage} place="">
          {evidence?.proof ? (
            <TestMessage proof={evidence.proof} inspect={evidence.inspect} />
          ) : isChecking ? (
            <Row mark="pending" name={w.testNext} />
          ) : (
            <Row mark="none" name={w.testNotSent}>
              {fault && <span lang="en">{fault.message}</span>}
            </Row>
          )}
        </Part>
      )}
    </>
  )
}

function nameOf(step: string): string {
  const [w, common] = [texts(), allTexts()]
  const names: Readonly<Record<string, string>> = {
    ...{ resolve: w.hostName, connect: common.reachable, greeting: w.answers, tls: w.encrypted, auth: w.signedIn, ready: w.ready },
  }
  return names[step] ?? step
}

function Domains({ domains }: { readonly domains: DestinationEvidence['domains'] | undefined }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  if (!domains || domains.length === 0)
    return (
      <Part title={w.senderDomain} place="">
        {domains ? (
          <Row mark="none" name={w.noDomain}>
            <a href={link('/domains', { new: '1' })}>{common.addDomain}</a>
          </Row>
        ) : (
          <Row mark="pending" name={w.lookingUp} />
        )}
      </Part>
    )
  return (
    <>
      {domains.map(({ id, domain, records }) => {
        const open = records.filter(({ verdict }) => verdict !== 'ok' && verdict !== null).length
        const tag = open > 0 ? <span class="tag warn">{w.openRecords({ n: open })}</span> : <span class="tag good">{common.passed}</span>
        return (
          <Part key={id} title={w.senderDomain} place={domain} tag={tag}>
            {records.map(({ purpose, required, verdict }, i) => (
              <Row
                key={i}
                mark={verdict === 'ok' ? 'ok' : required && verdict === 'missing' ? 'failed' : verdict === null ? 'none' : 'warning'}
                name={purpose.replaceAll('_', ' ').toUpperCase()}
                right={verdict === 'ok' ? undefined : <a href={link(`/domains/${id}`)}>{w.showRecord}</a>}
              >
                {verdict === 'ok'
                  ? w.recordOk
                  : verdict === 'missing'
                    ? w.recordMissing
                    : verdict === null
                      ? evidenceTexts().notLookedUp
                      : w.recordOther}
              </Row>
            ))}
          </Part>
        )
      })}
    </>
  )
}

interface TestMessageProps {
  readonly proof: NonNullable<DestinationEvidence['proof']>
  readonly inspect: DestinationEvidence['inspect']
}

function TestMessage({ proof, inspect }: TestMessageProps): JSX.Element {
  const [w, own] = [texts(), evidenceTexts()]
  const age = Date.now() - Date.parse(proof.at)
  const [isLate, setLate] = useState(age >= lateMs)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), Math.max(0, lateMs - age))
    return () => clearTimeout(timer)
  }, [proof.at])
  const report = <a href={link(`/inspect/${proof.test_id}`)}>{own.showReport}</a>
  const trace = <a href={link(`/traces/${proof.trace_id}`)}>{own.proofTrace}</a>
  if (proof.status === 'scored')
    return (
      <Row mark="ok" name={inspect ? w.score({ score: inspect.score }) : own.proofScored}>
        {report}
      </Row>
    )
  if (proof.status === 'waiting')
    return (
      <Row mark="sent" name={isLate ? w.testLate : w.testOnItsWay}>
        {isLate && w.testLateText} {trace}
      </Row>
    )
  const says = { failed: own.proofFailed, elsewhere: own.proofElsewhere, expired: own.proofExpired }
  return (
    <Row mark={proof.status === 'failed' ? 'failed' : 'warning'} name={says[proof.status]}>
      {trace}
    </Row>
  )
}

interface PartProps {
  readonly title: string
  readonly place: string
  readonly tag?: ComponentChildren
  readonly children: ComponentChildren
}

const Part = ({ title, place, tag, children }: PartProps): JSX.Element => (
  <div class="block">
    <div class="part-head">
      <h3>{title}</h3>
      <span class="faint">{place}</span>
      {tag}
    </div>
    <ul class="checks">{children}</ul>
  </div>
)

interface RowProps {
  readonly mark: string
  readonly name: string
  readonly right?: ComponentChildren
  readonly children?: ComponentChildren
}

const Row = ({ mark, name, right, children }: RowProps): JSX.Element => (
  <li>
    <Mark name={mark} />
    <div>
      <b>{name}</b>
      {children !== undefined && <p>{children}</p>}
    </div>
    {right !== undefined && <span class="faint">{right}</span>}
  </li>
)
