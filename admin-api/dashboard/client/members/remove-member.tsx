/** Dialog that removes a member or leaves the organization. It lists the affected keys; administrators may keep some. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { boot } from '../app/boot.ts'
import { call } from '../app/api.ts'
import { organization } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import { Newest } from '../selection/newest.tsx'
import { EndDialog } from '../parts/forms.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Member } from '../wire/api.d.ts'
import { texts } from './members-texts.ts'

interface RemoveProps {
  readonly member: Member
  readonly onClose: () => void
  readonly onDone: () => void
}

export function RemoveMember({ member, onClose, onDone }: RemoveProps): JSX.Element {
  const w = texts()
  const [kept, setKept] = useState<readonly string[]>([])
  const keys = useAll('/v1/api-keys', { query: { minted_by: member.user_id } })
  const ending = keys.rows.filter(({ status }) => status === 'active')
  const leaves = member.email === boot.email
  const remove = async (): Promise<void> => {
    const query = kept.length === 0 ? {} : { query: { keep_keys: kept.join(',') } }
    await call('DELETE /v1/members/{id}', { path: { id: member.user_id }, ...query })
    if (leaves) return location.assign('/settings/organization')
    toast(w.removedMember({ name: plain(member.email) }))
    onClose()
    onDone()
  }
  const toggle = (id: string, keeps: boolean): void => setKept(keeps ? [...kept, id] : kept.filter((one) => one !== id))
  const title = leaves ? w.leaveOrganization({ name: plain(organization.value?.name ?? '') }) : w.removeMember
  return (
    <EndDialog
      title={title}
      effects={[
        leaves ? w.leaveEffect : w.removeMemberEffect,
        ...(ending.length > 0 ? [w.keysEndEffect({ n: ending.length - kept.length })] : []),
      ]}
      name={member.email}
      submit={leaves ? w.leave : w.removeMember}
      needsConfirmation
      onClose={onClose}
      onSubmit={remove}
    >
      {mayAdminister.value &&
        ending.map(({ id, name }) => (
          <label class="check" key={id}>
            <input type="checkbox" checked={kept.includes(id)} onChange={(event) => toggle(id, event.currentTarget.checked)} />
            {w.keepKey({ name: plain(name) })}
          </label>
        ))}
      <Newest of={keys} />
    </EndDialog>
  )
}
