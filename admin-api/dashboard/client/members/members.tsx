/** Screen for members, their roles and pending invitations. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { boot } from '../app/boot.ts'
import { call } from '../app/api.ts'
import { go, linkHere, organization } from '../app/location.ts'
import { isMakingNew, mayAdminister, mayChange as mayWrite } from '../app/permissions.ts'
import { useList, type Listing } from '../app/query.ts'
import { FormDialog } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { List, Moment } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { dateOnly } from '../parts/time.ts'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Member } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Invitations } from './invitations.tsx'
import { texts } from './members-texts.ts'
import { RemoveMember } from './remove-member.tsx'
import { RoleField, type Role } from './role-field.tsx'

interface Doing {
  readonly what: 'role' | 'remove'
  readonly member: Member
}

export default function Members(): JSX.Element {
  const w = texts()
  const list = useList('/v1/members', {})
  const [doing, setDoing] = useState<Doing>()
  const count = list.read.data?.length ?? 0
  return (
    <>
      <TopBar title={allTexts().members}>
        {mayAdminister.value && (
          <a class="button primary" href={linkHere({ new: '1' })}>
            <Icon name="plus" />
            <span class="shell-label">{w.invite}</span>
          </a>
        )}
      </TopBar>
      <div class="sheet">
        {count > 0 && (
          <div class="say">
            <h2>{w.membersSay({ n: count })}</h2>
            <p>{w.membersText}</p>
          </div>
        )}
        <MemberList list={list} onDo={setDoing} />
        <Invitations isMaking={isMakingNew(mayAdminister)} onClose={() => go(linkHere({ new: '' }), { replaces: true })} />
      </div>
      {doing?.what === 'role' && <ChangeRole member={doing.member} onClose={() => setDoing(undefined)} onDone={list.reload} />}
      {doing?.what === 'remove' && <RemoveMember member={doing.member} onClose={() => setDoing(undefined)} onDone={list.reload} />}
    </>
  )
}

const nameOf = ({ name, email }: Member): string => name || email
const isMe = ({ email }: Member): boolean => email === boot.email

function MemberList({ list, onDo }: { readonly list: Listing<Member>; readonly onDo: (doing: Doing) => void }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  /** only owners can change the role of an owner; every member can leave */
  const mayChange = ({ role }: Member): boolean => mayAdminister.value && (role !== 'owner' || organization.value?.role === 'owner')
  const actions = (member: Member): JSX.Element => (
    <span class="row-buttons">
      {mayChange(member) && (
        <button
          class="button small"
          onClick={() => onDo({ what: 'role', member })}
          aria-label={`${w.changeRole}: ${plain(nameOf(member))}`}
        >
          {w.changeRole}
        </button>
      )}
      {isMe(member) && !mayWrite.value && (
        <a class="button small danger" href={`/organizations/${organization.value?.id ?? ''}/members`}>
          {w.leave}
        </a>
      )}
      {((isMe(member) && mayWrite.value) || mayChange(member)) && (
        <button
          class="button small danger"
          onClick={() => onDo({ what: 'remove', member })}
          aria-label={isMe(member) ? w.leave : common.removeNamed({ name: plain(nameOf(member)) })}
        >
          {isMe(member) ? w.leave : common.remove}
        </button>
      )}
    </span>
  )
  return (
    <List
      label={common.members}
      list={list}
      failure={w.membersFailed}
      keyOf={({ user_id: id }) => id}
      empty={<State title={w.membersSay({ n: 0 })} />}
      columns={[
        {
          head: w.person,
          class: 'tall strong',
          cell: (member) => (
            <>
              <SafeText text={nameOf(member)} /> {isMe(member) && <span class="tag">{w.you}</span>}
              {member.name !== '' && (
                <small>
                  <SafeText text={member.email} />
                </small>
              )}
            </>
          ),
        },
        { head: w.role, class: 'c-status', cell: ({ role }) => role },
        { head: w.joined, class: 'c-outcome c-spare', cell: ({ joined_at: at }) => dateOnly(at) },
        { head: w.lastSignIn, class: 'c-outcome', cell: ({ last_signed_in_at: at }) => (at === null ? '–' : <Moment at={at} />) },
        { head: w.passkey, class: 'c-took', cell: ({ has_passkey: has }) => (has ? w.yes : w.no) },
        { head: '', class: 'c-members num', cell: actions },
      ]}
      narrow={(member) => [
        <Mark name="ok" />,
        <SafeText text={nameOf(member)} />,
        member.name === '' ? member.role : `${member.role} · ${plain(member.email)}`,
        actions(member),
      ]}
    />
  )
}

interface ChangeProps {
  readonly member: Member
  readonly onClose: () => void
  readonly onDone: () => void
}

function ChangeRole({ member, onClose, onDone }: ChangeProps): JSX.Element {
  const w = texts()
  const [role, setRole] = useState<Role>(member.role)
  const change = async (): Promise<void> => {
    await call('PATCH /v1/members/{id}', { path: { id: member.user_id }, body: { role } })
    toast(w.roleChanged({ name: plain(nameOf(member)), role }))
    onClose()
    onDone()
  }
  return (
    <FormDialog
      title={w.changeRoleOf({ name: plain(nameOf(member)) })}
      submit={w.changeRole}
      needsConfirmation
      isReady={role !== member.role}
      onClose={onClose}
      onSubmit={change}
    >
      {() => <RoleField role={role} onChange={setRole} />}
    </FormDialog>
  )
}
