/** SMTP logins of programs that send mail. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { useList } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { bytes, number } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import type { SmtpCredential } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './access-texts.ts'
import { EditLogin } from './edit-login.tsx'
import { LoginDetails } from './login-details.tsx'
import { SecretActionDialog, SecretButtons, type SecretAction } from './secret-actions.tsx'
import { firstPage, SecretsScreen, type SecretsProps } from './secrets-screen.tsx'

export default function SmtpLogins(): JSX.Element {
  const w = texts()
  return (
    <SecretsScreen title={w.sections.smtpLogins} makes={w.sections.newSmtpLogin} list={useList('/v1/smtp-credentials', firstPage())}>
      {(props) => <Logins {...props} />}
    </SecretsScreen>
  )
}

const secretOf = (title: string, username: string, password: string): Secret => ({
  title,
  fields: [
    ['smtp_username', username],
    ['smtp_password', password],
  ],
  note: texts().loginNote,
})

const nameOf = ({ label, username }: SmtpCredential): string => label || username

function Logins({ list, isMaking, onClose, onSecret }: SecretsProps<SmtpCredential>): JSX.Element {
  const w = texts()
  const [doing, setDoing] = useState<{ readonly what: SecretAction; readonly login: SmtpCredential }>()
  const destinations = useAll('/v1/destinations', {})
  const names = new Map(destinations.rows.map(({ id, name }) => [id, name]))
  const opened = list.read.data?.find(({ id }) => id === query.value.get('login'))
  const actions = (login: SmtpCredential): JSX.Element => <SecretButtons name={nameOf(login)} onDo={(what) => setDoing({ what, login })} />
  return (
    <>
      <List
        label={w.sections.smtpLogins}
        list={list}
        failure={w.loginsFailed}
        keyOf={({ id }) => id}
        empty={
          <State title={w.noLogins} text={w.noLoginsText}>
            {mayChange.value && (
              <div class="actions">
                <a class="button primary" href={linkHere({ new: '1' })}>
                  {w.sections.newSmtpLogin}
                </a>
              </div>
            )}
          </State>
        }
        columns={[
          { head: w.name, class: 'tall strong', cell: (login) => <NameAndUsername login={login} /> },
          { head: w.fromDomains, cell: ({ allowed_from_domains: domains }) => (domains.length === 0 ? w.anyDomain : domains.join(', ')) },
          { head: w.destination, cell: (login) => <SafeText text={goesTo(login, names)} /> },
          { head: w.ratePerMinute, class: 'c-took c-spare num', cell: rateOf },
          { head: own().sizeShort, class: 'c-took c-spare num', cell: sizeOf },
          { head: own().tracking, class: 'c-path c-spare', cell: trackingOf },
          { head: own().lastLogin, class: 'c-time', cell: ({ last_login_at: at }) => (at === null ? w.never : <Moment at={at} />) },
          { head: w.expires, class: 'c-time', cell: ({ expires_at: at }) => (at === null ? w.never : <Moment at={at} />) },
          { head: '', class: 'c-actions num', cell: actions },
        ]}
        narrow={(login) => [
          <Mark name="ok" />,
          <Name login={login} text={nameOf(login)} />,
          `${login.username} · ${plain(goesTo(login, names))}`,
          actions(login),
        ]}
      />
      {isMaking && <NewLogin onClose={onClose} onSecret={onSecret} />}
      {opened && <OpenedLogin login={opened} names={names} onDone={list.reload} />}
      {doing && (
        <SecretActionDialog
          what={doing.what}
          name={nameOf(doing.login)}
          onClose={() => setDoing(undefined)}
          rotate={async () => {
            const { username, password, label } = await call('POST /v1/smtp-credentials/{id}/rotate', { path: { id: doing.login.id } })
            setDoing(undefined)
            onSecret(secretOf(w.newSecretOf({ name: plain(label || username) }), username, password))
          }}
          revoke={async () => {
            await call('DELETE /v1/smtp-credentials/{id}', { path: { id: doing.login.id } })
            setDoing(undefined)
            toast(w.revoked({ name: plain(nameOf(doing.login)) }))
            list.reload()
          }}
        />
      )}
    </>
  )
}

const rateOf = ({ max_rate_per_min: rate }: SmtpCredential): string => (rate === null ? '–' : number(rate))
const sizeOf = ({ max_message_bytes: size }: SmtpCredential): string => (size === null ? '–' : bytes(size))

const Name = ({ login, text }: { readonly login: SmtpCredential; readonly text: string }): JSX.Element => (
  <a href={linkHere({ login: login.id })}>
    <SafeText text={text} />
  </a>
)

const NameAndUsername = ({ login }: { readonly login: SmtpCredential }): JSX.Element => (
  <>
    <Name login={login} text={login.label || '–'} />
    <small>
      <code>{login.username}</code>
    </small>
  </>
)

/** Returns the destination of the login, else its environment, else a text that routing rules decide. */
const goesTo = ({ default_destination_id: id, environment }: SmtpCredential, names: ReadonlyMap<string, string>): string =>
  id !== null ? (names.get(id) ?? id) : (environment ?? texts().byRoute)

function trackingOf({ click_tracking_enabled: clicks, open_tracking_enabled: opens }: SmtpCredential): string {
  const on = [clicks ? own().trackedClicks : '', opens ? own().trackedOpens : ''].filter(Boolean)
  return on.join(', ') || '–'
}

interface OpenedProps {
  readonly login: SmtpCredential
  readonly names: ReadonlyMap<string, string>
  readonly onDone: () => void
}

/** The details of a login, or the form that edits it. */
function OpenedLogin({ login, names, onDone }: OpenedProps): JSX.Element {
  const show = (id: string, edit = ''): void => go(linkHere({ login: id, edit }), { replaces: true })
  return mayChange.value && query.value.get('edit') === '1' ? (
    <EditLogin login={login} destinations={names} onClose={() => show(login.id)} onDone={onDone} />
  ) : (
    <LoginDetails login={login} destinations={names} onClose={() => show('')} onEdit={() => show(login.id, '1')} />
  )
}

function NewLogin({ onClose, onSecret }: { readonly onClose: () => void; readonly onSecret: (secret: Secret) => void }): JSX.Element {
  const w = texts()
  const destinations = useAll('/v1/destinations', {})
  const [label, setLabel] = useState('')
  const [domains, setDomains] = useState('')
  const [destination, setDestination] = useState('')
  const create = async (): Promise<void> => {
    const allowed = domains.split(/[\s,]+/).filter(Boolean)
    const body = {
      label,
      ...(allowed.length > 0 && { allowed_from_domains: allowed }),
      ...(destination !== '' && { default_destination_id: destination }),
      ...(projectId.value !== undefined && { project_id: projectId.value }),
    }
    const { username, password } = await call('POST /v1/smtp-credentials', { body })
    onSecret(secretOf(w.secretOf({ name: label || username }), username, password))
  }
  return (
    <FormDialog title={w.sections.newSmtpLogin} submit={w.create} needsConfirmation onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} hint={w.loginNameHint} value={label} onChange={setLabel} fault={fault?.fields.get('label')} />
          <TextField
            label={w.fromDomains}
            hint={w.fromDomainsHint}
            value={domains}
            onChange={setDomains}
            fault={fault?.fields.get('allowed_from_domains')}
          />
          <ChooseField
            label={w.destination}
            value={destination}
            onChange={setDestination}
            of={destinations}
            options={[['', w.byRoute], ...destinations.rows.map(({ id, name }) => [id, plain(name)] as const)]}
          />
        </>
      )}
    </FormDialog>
  )
}
