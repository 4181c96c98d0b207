/** Role selection with a description of the permissions. */
import type { JSX } from 'preact'
import { organization } from '../app/location.ts'
import { ChooseField } from '../parts/controls.tsx'
import type { Member } from '../wire/api.d.ts'
import { texts } from './members-texts.ts'

export type Role = Member['role']

const roles: readonly Role[] = ['owner', 'admin', 'developer', 'viewer', 'billing']

export function RoleField({ role, onChange }: { readonly role: Role; readonly onChange: (role: Role) => void }): JSX.Element {
  const w = texts()
  const meanings = { owner: w.roleOwner, admin: w.roleAdmin, developer: w.roleDeveloper, viewer: w.roleViewer, billing: w.roleBilling }
  const mine = organization.value?.role === 'owner' ? roles : roles.filter((one) => one !== 'owner')
  return (
    <ChooseField
      label={w.role}
      hint={meanings[role]}
      value={role}
      onChange={(next) => onChange(next as Role)}
      options={mine.map((one) => [one, one] as const)}
    />
  )
}
