/** Organizations of the user, with the user's role in each. */
import type { JSX } from 'preact'
import { organization } from '../app/location.ts'
import type { Listing } from '../app/query.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { dateOnly, number } from '../parts/time.ts'
import { texts as memberTexts } from '../members/members-texts.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { OnDo } from './doing.ts'
import { texts } from './organizations-texts.ts'
import type { Mine } from './use-mine.ts'

interface MineProps {
  readonly list: Listing<Mine>
  readonly onDo: OnDo
}

const Name = ({ id, name, read }: Mine): JSX.Element => (
  <>
    <a href={`/?org=${id}`}>
      <SafeText text={name} />
    </a>{' '}
    {id === organization.value?.id && <span class="tag">{texts().shown}</span>}{' '}
    {typeof read.organization.owner_id === 'string' && <span class="tag">{texts().teamTag}</span>}
  </>
)

const planOf = ({ read }: Mine): string => read.organization.plan_tier
const peopleOf = ({ read: { members } }: Mine): string => (members ? number(members.count) : '–')

/** Buttons that rename, delete and leave. Roles without change permission leave on the members page. */
function Actions({
  mine: {
    id,
    name,
    role,
    read: { members },
  },
  onDo,
}: {
  readonly mine: Mine
  readonly onDo: OnDo
}): JSX.Element {
  const [w, label] = [texts(), plain(name)]
  const chosen = { id, name, ...(members && { members: members.count, userId: members.userId }) }
  return (
    <span class="row-buttons">
      {(role === 'owner' || role === 'admin') && (
        <button class="button small" aria-label={w.renameNamed({ name: label })} onClick={() => onDo('rename', chosen)}>
          {w.rename}
        </button>
      )}
      {role === 'viewer' || role === 'billing' ? (
        <a
          class="button small"
          href={`/organizations/${id}/${role === 'billing' ? 'usage' : 'members'}`}
          aria-label={w.leaveNamed({ name: label })}
        >
          {memberTexts().leave}
        </a>
      ) : (
        <button class="button small" aria-label={w.leaveNamed({ name: label })} onClick={() => onDo('leave', chosen)}>
          {memberTexts().leave}
        </button>
      )}
      {role === 'owner' && (
        <button class="button small danger" aria-label={w.deleteNamed({ name: label })} onClick={() => onDo('delete', chosen)}>
          {allTexts().delete}
        </button>
      )}
    </span>
  )
}

export function MyOrganizations({ list, onDo }: MineProps): JSX.Element {
  const w = texts()
  return (
    <List
      label={w.yours}
      list={list}
      failure={w.failed}
      keyOf={({ id }) => id}
      empty={<State title={allTexts().noOrganization} text={allTexts().noOrganizationText} />}
      columns={[
        { head: allTexts().name, class: 'strong', cell: (mine) => <Name {...mine} /> },
        { head: w.role, class: 'c-small', cell: ({ role }) => role },
        { head: w.plan, class: 'c-small', cell: planOf },
        { head: w.people, class: 'c-small c-spare num', cell: peopleOf },
        { head: w.since, class: 'c-status', cell: ({ read: { members } }) => (members ? dateOnly(members.joinedAt) : '–') },
        { head: '', class: 'c-buttons num', cell: (mine) => <Actions mine={mine} onDo={onDo} /> },
      ]}
      narrow={(mine) => [
        <Mark name="ok" />,
        <Name {...mine} />,
        `${mine.role} · ${planOf(mine)} · ${w.people}: ${peopleOf(mine)}`,
        <Actions mine={mine} onDo={onDo} />,
      ]}
    />
  )
}
