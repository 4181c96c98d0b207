/** Profile of the user: address, name, passkeys, sessions, roles, service mails and applications. */
import type { ComponentChildren, JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { boot, type OwnOrganization } from '../app/boot.ts'
import { link, organization, organizations } from '../app/location.ts'
import { mayRead } from '../app/permissions.ts'
import { useRead } from '../app/query.ts'
import { TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Loading, Show } from '../parts/states.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { Mails } from './mails.tsx'
import { Setting } from './setting.tsx'
import { Passkeys, Sessions } from './sign-in.tsx'
import { texts } from './profile-texts.ts'

/** Allows a line break after the at sign. */
function afterSign(text: string): JSX.Element {
  const end = text.lastIndexOf('@') + 1
  return (
    <>
      {text.slice(0, end)}
      <wbr />
      {text.slice(end)}
    </>
  )
}

export default function Profile(): JSX.Element {
  const w = texts()
  return (
    <>
      <TopBar title={allTexts().sections.you}>
        <form method="post" action="/sign-out">
          <input type="hidden" name="csrf" value={boot.csrfToken} />
          <button class="button">{allTexts().signOut}</button>
        </form>
      </TopBar>
      <div class="sheet">
        <div class="say">
          <h2>{afterSign(w.say({ email: plain(boot.email) }))}</h2>
          <p>{w.sayText}</p>
        </div>
        <Account>
          <section aria-labelledby="profile-roles">
            <div class="head">
              <h2 id="profile-roles">{w.roles}</h2>
            </div>
            <div class="profile-part">
              {organization.value ? <Roles shown={organization.value} /> : <p class="soft">{allTexts().noOrganization}</p>}
              <a class="button" href={organization.value && mayRead.value ? link('/settings/organization') : '/organizations'}>
                {w.manage}
              </a>
            </div>
          </section>
          <Mails />
          <section aria-labelledby="profile-applications">
            <div class="head">
              <h2 id="profile-applications">{w.applications}</h2>
            </div>
            <div class="profile-part">
              <p class="soft">{w.applicationsText}</p>
              <a class="button" href="/account/applications">
                {w.applicationsLink}
              </a>
            </div>
          </section>
        </Account>
      </div>
    </>
  )
}

/** Name, passkeys and sessions, and further sections. Shows them when all are read, so that nothing moves. */
function Account({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const w = texts()
  const read = useRead('/v1/account', {})
  const passkeys = useRead('/v1/account/passkeys', {})
  const sessions = useRead('/v1/account/sessions', {})
  const [isNaming, setNaming] = useState(false)
  if ([read, passkeys, sessions].some(({ state }) => state === 'loading')) return <Loading />
  return (
    <>
      <Show read={read} reload={read.reload} failure={w.accountFailed} rows={1}>
        {({ name }) => (
          <ul class="setting-rows">
            <Setting name={w.name} text={name === '' ? w.noName : <SafeText text={name} />}>
              <button class="button small" aria-label={w.changeName} onClick={() => setNaming(true)}>
                {w.change}
              </button>
            </Setting>
          </ul>
        )}
      </Show>
      {isNaming && read.data && <ChangeName name={read.data.name} onClose={() => setNaming(false)} onDone={read.reload} />}
      <Passkeys read={passkeys} areAvailable={read.data?.passkeys_available ?? true} />
      <Sessions read={sessions} />
      {children}
    </>
  )
}

interface ChangeNameProps {
  readonly name: string
  readonly onClose: () => void
  readonly onDone: () => void
}

function ChangeName({ name, onClose, onDone }: ChangeNameProps): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useState(name)
  const save = async (): Promise<void> => {
    await call('PATCH /v1/account', { body: { name: typed } })
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.changeName} submit={allTexts().save} onClose={onClose} onSubmit={save}>
      {(fault) => <TextField label={w.name} hint={w.nameHint} value={typed} onChange={setTyped} fault={fault?.fields.get('name')} />}
    </FormDialog>
  )
}

/** The user's role in each organization, and the plan of the current one. */
function Roles({ shown }: { readonly shown: OwnOrganization }): JSX.Element {
  const read = useRead('/v1/organizations/{id}', { path: { id: shown.id } }, { isShown: true })
  return (
    <Show read={read} reload={read.reload} failure={texts().failed} rows={1}>
      {({ plan_tier: plan }) => (
        <dl class="facts">
          {organizations.value.map(({ id, name, role }) => (
            <>
              <dt key={id}>
                <SafeText text={name} />
              </dt>
              <dd>
                {role} {id === shown.id && <span class="tag">{plan}</span>}
              </dd>
            </>
          ))}
        </dl>
      )}
    </Show>
  )
}
