/** Screen for agents and other authorized applications: granted access, pending sandbox claims, and connection instructions. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { boot } from '../app/boot.ts'
import { mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList, type Listing } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { HeadingBone } from '../parts/states.tsx'
import { dateOnly } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Application } from '../wire/api.d.ts'
import { colon } from '../texts/language.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './agents-texts.ts'
import { Claims } from './claims.tsx'
import { Connect } from './connect.tsx'

export default function Agents(): JSX.Element {
  const w = texts()
  const list = useList('/v1/applications', {})
  const [ending, setEnding] = useState<Application>()
  const count = list.read.data?.length
  return (
    <>
      <TopBar title={allTexts().sections.agents} />
      <div class="sheet">
        <div class="say">
          <h2>{count === undefined ? <HeadingBone /> : w.say({ count })}</h2>
          <p>{w.sayText}</p>
        </div>
        <div class="columns">
          <section aria-label={allTexts().sections.agents}>
            <ApplicationList list={list} onRevoke={setEnding} />
            <Claims />
          </section>
          <aside aria-label={w.connect}>
            <Connect url={boot.mcpUrl} />
          </aside>
        </div>
      </div>
      {ending && <Revoke application={ending} onClose={() => setEnding(undefined)} onDone={list.reload} />}
    </>
  )
}

const projectName = (id: string): string => plain(projects.value.find((one) => one.id === id)?.name ?? id)
const lastCall = ({ last_used_at: at }: Application): JSX.Element | string => (at === null ? texts().neverCalled : <Moment at={at} />)

interface ApplicationListProps {
  readonly list: Listing<Application>
  readonly onRevoke: (application: Application) => void
}

function ApplicationList({ list, onRevoke }: ApplicationListProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const actions = (application: Application): JSX.Element | string =>
    mayChange.value ? (
      <button
        class="button small danger"
        onClick={() => onRevoke(application)}
        aria-label={w.revokeNamed({ name: plain(application.name) })}
      >
        {w.revoke}
      </button>
    ) : application.user.email === boot.email ? (
      <a href="/account/applications">{w.revoke}</a>
    ) : (
      ''
    )
  return (
    <List
      label={common.sections.agents}
      list={list}
      failure={w.failed}
      keyOf={({ id }) => id}
      empty={<p class="no-rows soft">{w.noneText}</p>}
      columns={[
        { head: w.application, class: 'tall strong', cell: (application) => <Name application={application} /> },
        { head: w.lastCall, class: 'c-time', cell: lastCall },
        { head: '', class: 'c-status num', cell: actions },
      ]}
      narrow={(application) => [
        <Mark name="ok" />,
        <SafeText text={application.name} />,
        <>
          {hostOf(application)} · {projectName(application.project_id)} · {w.lastCall + colon()} {lastCall(application)}
        </>,
        actions(application),
      ]}
    />
  )
}

function Name({ application }: { readonly application: Application }): JSX.Element {
  const w = texts()
  const { name, user, created_at: at, project_id: project, scopes } = application
  return (
    <>
      <SafeText text={name} />
      <small>
        <span class="tag">{hostOf(application)}</span> {projectName(project)} · <code>{scopes.join(' ')}</code>
      </small>
      <small>
        {w.allowedBy} <SafeText text={user.name || user.email} /> · {dateOnly(at)}
      </small>
    </>
  )
}

/** Returns the host that verifies the name of the application. */
const hostOf = ({ verified_host: host }: Application): string => (host === null ? texts().unverified : plain(host))

interface RevokeProps {
  readonly application: Application
  readonly onClose: () => void
  readonly onDone: () => void
}

function Revoke({ application: { id, name, project_id: project }, onClose, onDone }: RevokeProps): JSX.Element {
  const w = texts()
  const revoke = async (): Promise<void> => {
    const { ended_keys: keys } = await call('DELETE /v1/applications/{id}', { path: { id } })
    toast(w.revoked({ name: plain(name), keys: keys.length }))
    onClose()
    onDone()
  }
  return (
    <FormDialog title={w.revokeTitle({ name: plain(name) })} submit={w.revoke} isDangerous onClose={onClose} onSubmit={revoke}>
      {() => (
        <ul class="effects">
          <li>{w.revokeEffect({ project: projectName(project) })}</li>
          <li>{w.revokeKeys}</li>
          <li>{w.revokeStays}</li>
        </ul>
      )}
    </FormDialog>
  )
}
