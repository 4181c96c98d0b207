/** Details of an SMTP login: settings for the mail program, a connection test and the settings of the login. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call, type ApiFault } from '../app/api.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault } from '../app/query.ts'
import { CopyButton, Dialog, Segments, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { Facts, plain, SafeText } from '../parts/safe-text.tsx'
import { longTime, number } from '../parts/time.ts'
import type { ConnectionTest, SmtpCredential } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './access-texts.ts'
import { noticesToday } from './notice-fields.tsx'
import { recipes, type Recipe } from './recipes.ts'

interface DetailsProps {
  readonly login: SmtpCredential
  /** Names of destinations by id. */
  readonly destinations: ReadonlyMap<string, string>
  readonly onClose: () => void
  readonly onEdit: () => void
}

export function LoginDetails({ login, destinations, onClose, onEdit }: DetailsProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const title = plain(login.label || login.username)
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="login-details">
        <h2>{title}</h2>
        <ClientSettings login={login} />
        <h3>{w.limits}</h3>
        <Limits login={login} destinations={destinations} />
        {mayChange.value && <Transcript login={login} />}
        <footer>
          {mayChange.value && (
            <button class="button" onClick={onEdit}>
              {w.edit}
            </button>
          )}
          <button class="button primary" onClick={onClose}>
            {common.close}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

function ClientSettings({ login }: { readonly login: SmtpCredential }): JSX.Element {
  const w = texts()
  const [recipe, setRecipe] = useState<Recipe['id']>('php')
  const { host, starttls, tls } = boot.submission
  const ports = [...starttls.map((port) => `${String(port)} (STARTTLS)`), ...tls.map((port) => `${String(port)} (TLS)`)]
  const chosen = recipes.find(({ id }) => id === recipe)
  const text = chosen?.write({ host, port: starttls[0] ?? tls[0] ?? 587, isTls: starttls.length === 0, username: login.username }) ?? ''
  return (
    <>
      <h3>{w.settings}</h3>
      <dl class="facts">
        <dt>{w.host}</dt>
        <dd>
          <code>{host}</code> <CopyButton text={host} label={allTexts().copy} />
        </dd>
        <dt>{w.ports}</dt>
        <dd>{ports.join(', ') || '–'}</dd>
        <dt>{allTexts().username}</dt>
        <dd>
          <code>{login.username}</code> <CopyButton text={login.username} label={allTexts().copy} />
        </dd>
        <dt>{w.password}</dt>
        <dd>{w.passwordOnce}</dd>
      </dl>
      <Segments
        label={w.recipe}
        choices={recipes.map(({ id, name }) => ({ value: id, label: name }))}
        value={recipe}
        onChoose={setRecipe}
      />
      <pre class="code wrap" tabIndex={0}>
        {text}
      </pre>
    </>
  )
}

function Limits({ login, destinations }: Pick<DetailsProps, 'login' | 'destinations'>): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const { default_destination_id: id, environment, max_message_bytes: bytes, max_rate_per_min: rate, expires_at: until } = login
  const onOff = (isOn: boolean): string => (isOn ? w.on : w.off)
  const goes = id !== null ? (destinations.get(id) ?? id) : environment !== null ? environment : common.byRoute
  const rows: readonly (readonly [string, string])[] = [
    [common.fromDomains, login.allowed_from_domains.join(', ') || common.anyDomain],
    [w.headerFrom, onOff(login.enforce_header_from)],
    [common.destination, goes],
    [common.ratePerMinute, rate === null ? common.withoutLimit : number(rate)],
    [w.size, bytes === null ? w.asService : `${number(Math.round(bytes / 1024))} KiB`],
    [w.lastLogin, login.last_login_at === null ? common.never : longTime(login.last_login_at)],
    [common.expires, until === null ? common.never : longTime(until)],
    [w.clicks, onOff(login.click_tracking_enabled)],
    [w.opens, onOff(login.open_tracking_enabled)],
    ['VERP', onOff(login.verp_enabled)],
    [w.notices, w.noticeModes[login.failure_notices]],
    [w.noticeTo, login.failure_notice_to === null ? 'MAIL FROM' : plain(login.failure_notice_to)],
    [w.noticesToday, noticesToday(login.failure_notices_today)],
  ]
  return <Facts rows={rows} />
}

/** Button for a connection test, and the result of each step. */
function Transcript({ login }: { readonly login: SmtpCredential }): JSX.Element {
  const common = allTexts()
  const [result, setResult] = useState<ConnectionTest>()
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const run = async (): Promise<void> => {
    setFault(undefined)
    try {
      setResult(await call('POST /v1/smtp-credentials/{id}/test-connection', { path: { id: login.id } }))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <div aria-live="polite">
      <div class="actions">
        <h3>{texts().would}</h3>
        {result && <span class={result.ok ? 'tag good' : 'tag bad'}>{result.ok ? common.passed : common.notPassed}</span>}
        <button class="button small end" aria-disabled={isBusy} onClick={() => start(run)}>
          {isBusy ? common.testing : common.testConnection}
        </button>
      </div>
      <Fault fault={fault} />
      {result && (
        <ul class="checks">
          {result.checks.map(({ check, ok, detail, milliseconds }) => (
            <li key={check}>
              <Mark name={ok ? 'ok' : 'failed'} />
              <div>
                <b>{check}</b>
                <p lang="en">
                  <SafeText text={detail} />
                </p>
              </div>
              {milliseconds !== undefined && <span class="faint">{milliseconds} ms</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
