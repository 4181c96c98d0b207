/** First run: a picture of captured mail, the steps to the first real mail, and ways to send a message. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { boot } from '../app/boot.ts'
import { link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { curlOf, nodeOf } from '../app/call-examples.ts'
import { copy, CopyButton, Segments } from '../parts/controls.tsx'
import { Gate } from './gate.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import type { Destination, SendingDomain, TraceSummary } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

interface FirstRunProps {
  readonly destinations: readonly Destination[]
  readonly traces: readonly TraceSummary[]
  readonly onSend: () => void
  /** Content below the steps. */
  readonly children?: ComponentChildren
}

/** Shown until a provider has accepted a message. */
export default function FirstRun({ destinations, traces, onSend, children }: FirstRunProps): JSX.Element {
  const w = texts()
  const live = destinations.find(({ mode }) => mode === 'live')
  return (
    <>
      <div class="columns first-run">
        <section aria-label={w.firstSteps}>
          <Gate isOpen={live !== undefined}>
            <span>{w.yourSite}</span>
            <span class="held">{w.capturedSoFar({ count: traces.filter(({ status }) => status === 'captured').length })}</span>
            <b>{live ? w.openThrough({ name: plain(live.name) }) : w.closedUntil}</b>
            <span>{w.yourCustomers}</span>
          </Gate>
          <Checklist {...{ destinations, traces, onSend, live }} />
        </section>
        <aside aria-label={w.sendSomething}>
          <Snippets />
        </aside>
      </div>
      {children}
    </>
  )
}

function Checklist({
  destinations,
  traces,
  onSend,
  live,
}: Omit<FirstRunProps, 'children'> & { readonly live: Destination | undefined }): JSX.Element {
  const w = texts()
  const domains = useAll('/v1/domains', {}).read.data ?? []
  const ready = domains.find(isReady)
  const captured = traces.find(({ status }) => status === 'captured')
  return (
    <ol class="steps">
      <Step n={1} isDone={destinations.length > 0} title={w.stepDestination} text={w.stepDestinationText}>
        <a href={link(destinations.length > 0 ? '/destinations' : '/destinations/new')}>
          {destinations.length > 0 ? w.seeDestinations : w.newDestination}
        </a>
      </Step>
      <Step
        n={2}
        isDone={ready !== undefined}
        title={w.stepDomain}
        text={ready ? w.stepDomainDone({ domain: ready.domain }) : w.stepDomainText}
      >
        <a href={link('/domains')}>{w.domains}</a>
      </Step>
      <Step n={3} isDone={captured !== undefined} title={w.stepSend} text={captured ? w.stepSendDone : w.stepSendText}>
        {captured ? (
          <a href={link(`/traces/${captured.trace_id}`)}>{w.readIt}</a>
        ) : (
          !live && mayChange.value && <Act label={w.sendCapturedTest} onClick={onSend} />
        )}
      </Step>
      <Step
        n={4}
        isDone={live !== undefined}
        title={w.stepPromote}
        text={live ? w.stepPromoteDone({ name: plain(live.name) }) : w.stepPromoteText}
      >
        {!live && destinations[0] && <a href={link(`/destinations/${destinations[0].id}/go-live`)}>{w.promoteToLive}</a>}
      </Step>
      <Step n={5} isDone={false} title={w.stepReal} text={w.stepRealText}>
        {live && mayChange.value && <Act label={w.sendTest} onClick={onSend} />}
      </Step>
    </ol>
  )
}

const Act = ({ label, onClick }: { readonly label: string; readonly onClick: () => void }): JSX.Element => (
  <button class="button" onClick={onClick}>
    {label}
  </button>
)

interface StepProps {
  readonly n: number
  readonly isDone: boolean
  readonly title: string
  readonly text: string
  readonly children?: ComponentChildren
}

const Step = ({ n, isDone, title, text, children }: StepProps): JSX.Element => (
  <li>
    <span class={isDone ? 'arch done' : 'arch plain'} aria-hidden="true">
      {isDone ? <Icon name="check" /> : n}
    </span>
    <div>
      <h3>
        {title} {isDone && <span class="tag good">{texts().done}</span>}
      </h3>
      <p class="soft">{text}</p>
      <div class="actions">{children}</div>
    </div>
  </li>
)

/** Whether all required DNS records are published. */
const isReady = ({ records }: SendingDomain): boolean => records.every(({ required, verdict }) => !required || verdict === 'ok')

/** Returns the MCP configuration for agents with a configuration file. */
const forAgents = (): string => JSON.stringify({ mcpServers: { postern: { type: 'http', url: boot.mcpUrl } } }, undefined, 2)

const sample = () => ({
  route: 'POST /v1/messages',
  input: { body: { from: boot.email, to: [boot.email], subject: texts().testSubject, text: texts().testText } },
})

function Snippets(): JSX.Element {
  const w = texts()
  const [way, setWay] = useState<'curl' | 'node' | 'mcp'>('curl')
  const text = { curl: () => curlOf(sample()), node: () => nodeOf(sample()), mcp: forAgents }[way]()
  return (
    <>
      <section class="block" aria-labelledby="now">
        <h2 id="now">{w.sendSomething}</h2>
        <p class="soft">
          {w.safeOutcome} <code class="held">captured</code>
        </p>
        <Segments
          label={w.language}
          value={way}
          onChoose={setWay}
          choices={[
            { value: 'curl', label: 'curl' },
            { value: 'node', label: 'Node' },
            { value: 'mcp', label: 'MCP' },
          ]}
        />
        <pre class="code" tabIndex={0}>
          {text}
        </pre>
        <div class="actions">
          <button class="button" onClick={() => void copy(text)}>
            <Icon name="copy" />
            {w.copy}
          </button>
          {way !== 'mcp' && <a href={link('/settings/keys', { new: '1' })}>{w.createKey}</a>}
        </div>
      </section>
      <section class="block" aria-labelledby="agent">
        <h2 id="agent">{w.letAgent}</h2>
        <p class="soft">{w.letAgentText}</p>
        <p>
          <a href={link('/settings/agents')}>{w.sections.agents}</a>
        </p>
      </section>
      <SmtpServer />
    </>
  )
}

/** SMTP settings. Hidden if no submission port is open. */
function SmtpServer(): JSX.Element | null {
  const w = texts()
  const { host, starttls, tls } = boot.submission
  const ports = [[starttls, 'STARTTLS'] as const, [tls, 'TLS'] as const].filter(([numbers]) => numbers.length > 0)
  if (ports.length === 0) return null
  return (
    <section class="block" aria-labelledby="smtp">
      <h2 id="smtp">{w.speaksSmtp}</h2>
      <p class="soft">{w.speaksSmtpText}</p>
      <dl class="facts">
        <dt>{w.host}</dt>
        <dd>
          {host} <CopyButton text={host} label={w.copy} />
        </dd>
        <dt>{w.port}</dt>
        <dd class="mono">{ports.map(([numbers, security]) => `${numbers.join(', ')} ${security}`).join(' · ')}</dd>
      </dl>
      <p>
        <a href={link('/settings/smtp-logins', { new: '1' })}>{w.sections.newSmtpLogin}</a>
      </p>
    </section>
  )
}
