/** Screen for API keys: their scopes, creation and expiry. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call } from '../app/api.ts'
import { go, linkHere, projectId, query } from '../app/location.ts'
import { mayAdminister, mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList, useRead } from '../app/query.ts'
import { ChooseField, TextField } from '../parts/controls.tsx'
import { FormDialog } from '../parts/forms.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import type { Secret } from '../parts/secret-dialog.tsx'
import { NotAllowed, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import type { ApiKey, Member } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './access-texts.ts'
import { EditKey } from './edit-key.tsx'
import { SecretActionDialog, SecretButtons, type SecretAction } from './secret-actions.tsx'
import { firstPage, SecretsScreen, type SecretsProps } from './secrets-screen.tsx'

export default function Keys(): JSX.Element {
  const w = texts()
  return (
    <SecretsScreen title={w.sections.keys} makes={w.newKey} list={useList('/v1/api-keys', firstPage())}>
      {(props) => <ApiKeys {...props} />}
    </SecretsScreen>
  )
}

/** Id of the key that `POSTERN_ADMIN_KEY` sets. It can only be changed in the environment. */
const ofEnvironment = 'key_environment'

/** Empty state. Only administrators see keys of the whole organization. */
function NoKeys(): JSX.Element {
  const w = texts()
  if (!mayChange.value) return <NotAllowed says={own().keysHidden} />
  return (
    <State title={w.noKeys} text={mayAdminister.value ? w.noKeysText : own().keysHidden}>
      <div class="actions">
        <a class="button primary" href={linkHere({ new: '1', edit: '' })}>
          {w.newKey}
        </a>
      </div>
    </State>
  )
}

type Doing = { readonly what: SecretAction; readonly key: ApiKey }

function ApiKeys({ list, isMaking, onClose, onSecret }: SecretsProps<ApiKey>): JSX.Element {
  const w = texts()
  const [doing, setDoing] = useState<Doing>()
  const actions = (key: ApiKey): JSX.Element | string =>
    key.status === 'active' ? (
      <SecretButtons name={key.name} canRotate={key.id !== ofEnvironment} onDo={(what) => setDoing({ what, key })} />
    ) : (
      ''
    )
  const edited = mayChange.value ? list.read.data?.find(({ id }) => id === query.value.get('edit')) : undefined
  const closeEdit = (): void => go(linkHere({ edit: '' }), { replaces: true })
  const people = useRead('/v1/members', mayChange.value ? {} : undefined).data?.data ?? []
  const scopes = ({ scopes: held, send_only: sendOnly }: ApiKey): string => (sendOnly ? w.sendOnly : held.join(' '))
  return (
    <>
      <List
        label={w.sections.keys}
        list={list}
        failure={w.keysFailed}
        keyOf={({ id }) => id}
        empty={<NoKeys />}
        columns={[
          { head: w.name, class: 'c-main tall strong', cell: (key) => <NameOf apiKey={key} /> },
          { head: own().kind, class: 'c-path c-spare', cell: (key) => own().kinds[kindOf(key)] },
          { head: own().audience, class: 'c-spare', cell: (key) => <span title={audience}>{audienceOf(key)}</span> },
          { head: w.scopes, class: 'c-took', cell: (key) => <code>{scopes(key)}</code> },
          { head: own().createdBy, cell: (key) => <SafeText text={makerOf(key, people)} /> },
          { head: w.lastUsed, class: 'c-time', cell: ({ last_used_at: at }) => (at === null ? '–' : <Moment at={at} />) },
          { head: w.expires, class: 'c-time', cell: ({ expires_at: at }) => (at === null ? w.never : <Moment at={at} />) },
          { head: '', class: 'c-actions num', cell: actions },
        ]}
        narrow={(key) => [
          <Mark name={key.status === 'active' ? 'ok' : 'canceled'} />,
          <Named apiKey={key} />,
          [key.preview, own().kinds[kindOf(key)], audienceOf(key), scopes(key)].join(' · '),
          actions(key),
        ]}
      />
      {isMaking && <NewKey onClose={onClose} onSecret={onSecret} />}
      {edited && <EditKey key={edited.id} apiKey={edited} onClose={closeEdit} onDone={list.reload} />}
      {doing && (
        <SecretActionDialog
          what={doing.what}
          name={doing.key.name}
          onClose={() => setDoing(undefined)}
          rotate={async () => {
            const { key, name } = await call('POST /v1/api-keys/{id}/rotate', { path: { id: doing.key.id } })
            setDoing(undefined)
            onSecret({ title: w.newSecretOf({ name: plain(name) }), fields: [['api_key', key]], note: w.keyNote })
          }}
          revoke={async () => {
            await call('DELETE /v1/api-keys/{id}', { path: { id: doing.key.id } })
            setDoing(undefined)
            toast(w.revoked({ name: plain(doing.key.name) }))
            list.reload()
          }}
        />
      )}
    </>
  )
}

/** Returns the person or application that created a key. */
function makerOf({ minted_by: by }: ApiKey, people: readonly Member[]): string {
  if (by === null) return '–'
  const person = people.find(({ user_id: id }) => id === by.user_id)
  const who = person ? person.name || person.email : (by.user_id ?? by.api_key_id ?? '–')
  return by.application ? `${by.application.name} (${who})` : who
}

/** The only URL that keys give access to: the REST API. */
const audience = `${boot.baseUrl}/v1`

/** Returns the reach of a key: one project or all projects. */
const audienceOf = ({ project_id: id }: ApiKey): string =>
  `/v1 · ${id === null ? own().everyProject : plain(projects.value.find((one) => one.id === id)?.name ?? id)}`

const kindOf = ({ id, minted_by: by }: ApiKey): 'service' | 'application' | 'environment' =>
  id === ofEnvironment ? 'environment' : by?.application ? 'application' : 'service'

/** The name of a key, with a link to the form that renames it if the user may change keys. */
const Named = ({ apiKey: { id, name, status } }: { readonly apiKey: ApiKey }): JSX.Element =>
  mayChange.value && status === 'active' && id !== ofEnvironment ? (
    <a class="cut" href={linkHere({ edit: id, new: '' })} title={own().editKey}>
      <SafeText text={name} />
    </a>
  ) : (
    <span class="cut">
      <SafeText text={name} />
    </span>
  )

const NameOf = ({ apiKey }: { readonly apiKey: ApiKey }): JSX.Element => (
  <>
    <span class="status">
      <Mark name={apiKey.status === 'active' ? 'ok' : 'canceled'} />
      <Named apiKey={apiKey} />
      {apiKey.status !== 'active' && <span class="faint">{apiKey.status}</span>}
    </span>
    <small>
      <code>{apiKey.preview}</code>
    </small>
  </>
)

type Wanted = 'send_only' | 'api:read' | 'api:send' | 'api:admin'

function NewKey({ onClose, onSecret }: { readonly onClose: () => void; readonly onSecret: (secret: Secret) => void }): JSX.Element {
  const w = texts()
  const [name, setName] = useState('')
  const [wanted, setWanted] = useState<Wanted>('send_only')
  const [days, setDays] = useState('')
  const create = async (): Promise<void> => {
    const expires = days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }
    const what = wanted === 'send_only' ? { send_only: true } : { scopes: [wanted] }
    const project = projectId.value === undefined ? {} : { project_id: projectId.value }
    const { key } = await call('POST /v1/api-keys', { body: { name, ...what, ...project, ...expires } })
    onSecret({ title: w.secretOf({ name }), fields: [['api_key', key]], note: w.keyNote })
  }
  return (
    <FormDialog title={w.newKey} submit={w.create} needsConfirmation onClose={onClose} onSubmit={create}>
      {(fault) => (
        <>
          <TextField label={w.name} hint={w.keyNameHint} value={name} onChange={setName} fault={fault?.fields.get('name')} />
          <ChooseField
            label={w.mayDo}
            value={wanted}
            onChange={(value) => setWanted(value as Wanted)}
            options={[
              ['send_only', w.maySendOnly],
              ['api:read', w.mayReadAll],
              ['api:send', w.maySendAll],
              ['api:admin', w.mayDoAll],
            ]}
          />
          <ChooseField
            label={w.expires}
            value={days}
            onChange={setDays}
            options={[
              ['', w.never],
              ['30', w.inDays({ days: 30 })],
              ['90', w.inDays({ days: 90 })],
              ['365', w.inDays({ days: 365 })],
            ]}
          />
        </>
      )}
    </FormDialog>
  )
}
