/** Page of an alert channel: state, test, settings, and its alerts with their results. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { showFault, useList, useRead } from '../app/query.ts'
import { useBusy } from '../parts/controls.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark, Status } from '../parts/mark.tsx'
import { MoreMenu } from '../parts/menu.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { Show, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import type { AlertChannel, AlertChannelTestResult } from '../wire/api.d.ts'
import { texts } from './alerts-texts.ts'
import { draftOf, languageNames, settingsOf, targetOf } from './channel-draft.ts'
import { nameOf, savedText, scopeOf, secretOf } from './channel-text.ts'
import { ChannelForm } from './channel-form.tsx'
import { ChannelState, useFailing } from './channel-state.tsx'

/** Only administrators change channels of the whole organization. */
const mayChangeIt = ({ project_id: project }: AlertChannel): boolean => (project === null ? mayAdminister.value : mayChange.value)

export function ChannelPage({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/alert-channels/{id}', { path: { id } }, { isShown: true })
  const failing = useFailing()
  const name = read.data ? nameOf(read.data) : ''
  const heading = (
    <>
      <a href={link('/settings/alerts')}>{w.alerts}</a>
      <SafeText text={name} />
    </>
  )
  return (
    <>
      <TopBar title={plain(name) || w.alerts} heading={heading}>
        {read.data && mayChangeIt(read.data) && <ChannelMenu channel={read.data} onChange={read.reload} />}
      </TopBar>
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.failed}>
          {(channel) => (
            <div class="columns">
              <section aria-label={w.recentAlerts}>
                <div class="head">
                  <h2>{w.recentAlerts}</h2>
                </div>
                {channel.kind === 'mail' || channel.kind === 'members' ? <State title={w.mailNotListed} /> : <Attempts id={id} />}
              </section>
              <aside aria-label={allTexts().status}>
                <div class="block">
                  <h2>
                    <ChannelState channel={channel} failing={failing} />
                  </h2>
                  <Settings channel={channel} />
                </div>
                {mayChangeIt(channel) ? <Test id={id} onDone={read.refresh} /> : <p class="block faint">{w.askAdministrator}</p>}
              </aside>
            </div>
          )}
        </Show>
      </div>
    </>
  )
}

function Settings({ channel }: { readonly channel: AlertChannel }): JSX.Element {
  const w = texts()
  const { kind, shown, groups, after_minutes: after, quiet_hours: quiet, min_severity: severity, language } = channel
  const rows = [
    [w.kind, w.kinds[kind]],
    ...(shown === '' ? [] : [[w.target.url, plain(shown)] as const]),
    [w.scope, scopeOf(channel)],
    [w.severity, severity === 'error' ? w.errorsOnly : w.errorsAndWarnings],
    [w.groupsHead, groups.length === 0 ? w.allGroups : groups.map((group) => w.groups[group]).join(', ')],
    [w.after, after === 0 ? w.atOnce : w.minutes({ count: after })],
    [w.quietHours, quiet === null ? w.noQuietHours : `${quiet.from}–${quiet.to} ${quiet.zone}`],
    [w.language, languageNames[language]],
  ] as const
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  )
}

/** Button that sends a test alert, and the response of the receiver. */
function Test({ id, onDone }: { readonly id: string; readonly onDone: () => void }): JSX.Element {
  const w = texts()
  const [result, setResult] = useState<AlertChannelTestResult>()
  const [isBusy, start] = useBusy()
  const run = async (): Promise<void> => {
    setResult(undefined)
    try {
      setResult(await call('POST /v1/alert-channels/{id}/test', { path: { id } }))
    } catch (error) {
      showFault(error)
    }
    onDone()
  }
  return (
    <div class="block" aria-live="polite">
      <div class="actions">
        <button class="button" aria-disabled={isBusy} onClick={() => start(run)}>
          {isBusy ? w.testing : w.test}
        </button>
      </div>
      {result ? <TestResult result={result} /> : <p class="soft">{w.testText}</p>}
    </div>
  )
}

function TestResult({ result }: { readonly result: AlertChannelTestResult }): JSX.Element {
  const w = texts()
  const { delivered, status_code: status, latency_ms: time, error, response_body: body } = result
  return (
    <>
      <p class="status">
        <Mark name={delivered ? 'ok' : 'failed'} />
        {delivered
          ? status === null
            ? w.testQueued
            : w.testArrived({ status, time })
          : w.testFailed({ status: status ?? w.noResponse, time })}
      </p>
      {error !== null && (
        <p class="soft" lang="en">
          <SafeText text={error} />
        </p>
      )}
      {!delivered && body !== null && body !== '' && (
        <pre class="code wrap" tabIndex={0}>
          <SafeText text={body} />
        </pre>
      )}
    </>
  )
}

function Attempts({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const list = useList('/v1/alert-channels/{id}/attempts', { path: { id } }, { isShown: false })
  return (
    <List
      label={w.recentAlerts}
      list={list}
      failure={w.failed}
      keyOf={({ id: attempt }) => attempt}
      empty={<State title={w.noAlerts} text={w.noAlertsText} />}
      columns={[
        { head: common.status, class: 'c-status', cell: ({ status }) => <Status name={status} /> },
        { head: w.lastError, cell: ({ last_error: error }) => <span lang="en">{error === null ? '–' : plain(error)}</span> },
        { head: common.attempts, class: 'c-took num', cell: ({ attempt_count: count }) => count },
        { head: common.code, class: 'c-took num', cell: ({ last_status_code: code }) => code ?? '–' },
        { head: common.time, class: 'c-time num', cell: ({ created_at: at }) => <Moment at={at} /> },
      ]}
      narrow={({ status, last_status_code: code, created_at: at }) => [<Mark name={status} />, status, code ?? '–', shortTime(at, true)]}
    />
  )
}

interface MenuProps {
  readonly channel: AlertChannel
  readonly onChange: () => void
}

function ChannelMenu({ channel, onChange }: MenuProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { id, enabled, kind } = channel
  const [open, setOpen] = useState<'edit' | 'remove'>()
  const [secret, setSecret] = useState<Secret>()
  const turn = async (isOn: boolean): Promise<void> => {
    try {
      await call('PATCH /v1/alert-channels/{id}', { path: { id }, body: { enabled: isOn } })
      toast(isOn ? w.turnedOn : w.turnedOff)
    } catch (error) {
      showFault(error)
    }
    onChange()
  }
  return (
    <MoreMenu
      acts={(then) => (
        <>
          <button onClick={then(() => setOpen('edit'))}>{w.edit}</button>
          <button onClick={then(() => void turn(!enabled))}>{enabled ? w.turnOff : w.turnOn}</button>
          {kind !== 'members' && (
            <button class="bad" onClick={then(() => setOpen('remove'))}>
              {w.remove}
            </button>
          )}
        </>
      )}
    >
      {open === 'edit' && (
        <ChannelForm
          title={w.edit}
          begin={draftOf(channel)}
          onClose={() => setOpen(undefined)}
          onSave={async (draft) => {
            const target = targetOf(draft)
            const saved = await call('PATCH /v1/alert-channels/{id}', {
              path: { id },
              body: { ...settingsOf(draft), ...(target && { target }) },
            })
            setSecret(secretOf(saved))
            onChange()
            return target ? savedText(saved) : w.saved
          }}
        />
      )}
      {open === 'remove' && (
        <EndDialog
          title={w.remove}
          effects={[w.removeEffect]}
          name={plain(channel.name)}
          submit={w.remove}
          onClose={() => setOpen(undefined)}
          onSubmit={async () => {
            await call('DELETE /v1/alert-channels/{id}', { path: { id } })
            toast(common.deleted({ name: plain(channel.name) }))
            go(link('/settings/alerts'))
          }}
        />
      )}
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </MoreMenu>
  )
}
