/** Screen for the organizations of the user and the teams of the current one: create, rename, leave, delete. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, linkHere, query } from '../app/location.ts'
import { mayAdminister, mayRead } from '../app/permissions.ts'
import { EndDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as memberTexts } from '../members/members-texts.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { forget, type Doing, type DoingProps, type OnDo } from './doing.ts'
import { EndOrganization } from './end-organization.tsx'
import { MyOrganizations } from './my-organizations.tsx'
import { texts } from './organizations-texts.ts'
import { Rename } from './rename.tsx'
import { NewTeam } from './new-team.tsx'
import { Teams, teamRoom } from './teams.tsx'
import { useMine } from './use-mine.ts'

export default function Organizations(): JSX.Element {
  const w = texts()
  const mine = useMine()
  const around = useAll('/v1/organizations', mayRead.value ? {} : undefined, { isShown: true })
  const [doing, setDoing] = useState<Doing>()
  const room = teamRoom(around.read.data)
  const isMaking = query.value.get('new') === '1'
  const close = (): void => setDoing(undefined)
  const reload = (): void => {
    mine.reload()
    around.reload()
  }
  const count = mine.read.data?.length ?? 0
  const onDo: OnDo = (what, chosen) => setDoing({ what, chosen })
  return (
    <>
      <TopBar title={allTexts().sections.organization}>
        {mayAdminister.value && room && (
          <button
            class="button primary"
            aria-disabled={room.refusal !== undefined}
            title={room.refusal}
            onClick={() => room.refusal === undefined && go(linkHere({ new: '1' }))}
          >
            <Icon name="plus" />
            <span class="shell-label">{w.newTeam}</span>
          </button>
        )}
      </TopBar>
      <div class="sheet">
        {count > 0 && (
          <div class="say">
            <h2>{w.say({ n: count })}</h2>
            <p>{w.sayText}</p>
          </div>
        )}
        <MyOrganizations list={mine} onDo={onDo} />
        <p class="no-rows soft">
          {w.otherWays} <a href="/organizations">{w.otherWaysLink}</a>.
        </p>
        {mayRead.value && <Teams list={around} room={room} onDo={onDo} />}
      </div>
      {isMaking && mayAdminister.value && room && room.refusal === undefined && (
        <NewTeam onClose={() => go(linkHere({ new: '' }), { replaces: true })} onMade={reload} />
      )}
      {doing?.what === 'rename' && <Rename chosen={doing.chosen} onClose={close} onDone={reload} />}
      {doing?.what === 'leave' && <Leave chosen={doing.chosen} onClose={close} onDone={reload} />}
      {doing?.what === 'delete' && <EndOrganization chosen={doing.chosen} onClose={close} onDone={reload} />}
    </>
  )
}

function Leave({ chosen: { id, name, userId = '' }, onClose, onDone }: DoingProps): JSX.Element {
  const w = texts()
  const leave = async (): Promise<void> => {
    await call('DELETE /v1/members/{id}', { path: { id: userId } }, { organizationId: id })
    onClose()
    toast(w.left({ name: plain(name) }))
    forget(id, onDone)
  }
  return (
    <EndDialog
      title={w.leaveNamed({ name: plain(name) })}
      effects={[memberTexts().leaveEffect, memberTexts().ownKeysEnd]}
      name={name}
      submit={memberTexts().leave}
      needsConfirmation
      onClose={onClose}
      onSubmit={leave}
    />
  )
}
