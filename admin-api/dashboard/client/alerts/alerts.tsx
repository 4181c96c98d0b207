/** Screen for alert channels, which send findings to the people of an organization. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId } from '../app/location.ts'
import { isMakingNew, mayAdminister, mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { useList } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { List, type Column } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { SecretDialog, type Secret } from '../parts/secret-dialog.tsx'
import { State } from '../parts/states.tsx'
import { NewLink, TopBar } from '../parts/top-bar.tsx'
import { language } from '../texts/language.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { AlertChannel } from '../wire/api.d.ts'
import { texts } from './alerts-texts.ts'
import { newDraft, settingsOf, targetOf, type ChannelDraft } from './channel-draft.ts'
import { ChannelForm } from './channel-form.tsx'
import { nameOf, savedText, scopeOf, secretOf } from './channel-text.ts'
import { ChannelPage } from './channel-page.tsx'
import { ChannelState, stateOf, useFailing, type Failing } from './channel-state.tsx'

export default function Alerts({ rest: [id] }: ScreenProps): JSX.Element {
  return id === undefined ? <ChannelList /> : <ChannelPage key={id} id={id} />
}

function ChannelList(): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useList('/v1/alert-channels', { query: project })
  const failing = useFailing()
  const [secret, setSecret] = useState<Secret>()
  return (
    <>
      <TopBar title={w.alerts}>{mayChange.value && <NewLink label={w.newChannel} />}</TopBar>
      <div class="sheet">
        <div class="say">
          <p>
            {w.say} {!mayAdminister.value && w.askAdministrator}
          </p>
        </div>
        <List
          label={w.alerts}
          list={list}
          failure={w.failed}
          keyOf={({ id }) => id}
          open={({ id }) => link(`/settings/alerts/${id}`)}
          empty={<State title={w.none} />}
          columns={columns(failing)}
          narrow={(one) => [
            <Mark name={stateOf(one, failing)[0]} />,
            <SafeText text={nameOf(one)} />,
            [w.kinds[one.kind], stateOf(one, failing)[1]].join(' · '),
          ]}
        />
      </div>
      {isMakingNew(mayChange) && (
        <NewChannel
          onClose={() => go(linkHere({ new: '' }), { replaces: true })}
          onDone={(made) => {
            setSecret(made)
            list.reload()
          }}
        />
      )}
      {secret && <SecretDialog secret={secret} onDone={() => setSecret(undefined)} />}
    </>
  )
}

function columns(failing: Failing): readonly Column<AlertChannel>[] {
  const [w, common] = [texts(), allTexts()]
  return [
    {
      head: common.name,
      class: 'strong',
      cell: (one) => (
        <a href={link(`/settings/alerts/${one.id}`)}>
          <SafeText text={nameOf(one)} />
        </a>
      ),
    },
    { head: w.kind, class: 'c-destination', cell: ({ kind }) => w.kinds[kind] },
    { head: w.target.url, class: 'c-spare', cell: ({ shown }) => (shown === '' ? '–' : <code>{plain(shown)}</code>) },
    { head: w.scope, class: 'c-destination c-spare', cell: scopeOf },
    { head: w.severity, class: 'c-destination', cell: ({ min_severity: one }) => (one === 'error' ? w.errorsOnly : w.errorsAndWarnings) },
    { head: common.status, class: 'c-reach', cell: (one) => <ChannelState channel={one} failing={failing} /> },
  ]
}

interface NewProps {
  readonly onClose: () => void
  readonly onDone: (secret: Secret | undefined) => void
}

function NewChannel({ onClose, onDone }: NewProps): JSX.Element {
  const w = texts()
  const home = projectId.value ?? (mayAdminister.value ? '' : (projects.value[0]?.id ?? ''))
  const create = async (draft: ChannelDraft): Promise<string | undefined> => {
    const { kind, project } = draft
    if (kind === 'members') return undefined
    const own = project === '' ? {} : { project_id: project }
    const saved = await call('POST /v1/alert-channels', { body: { kind, ...settingsOf(draft), target: targetOf(draft) ?? {}, ...own } })
    onDone(secretOf(saved))
    return savedText(saved)
  }
  return (
    <ChannelForm
      title={w.newChannel}
      submit={allTexts().create}
      begin={newDraft(home, language.value)}
      isNew
      {...{ onClose, onSave: create }}
    />
  )
}
