/** Team organizations that the current organization created, and the limit of the plan. */
import type { JSX } from 'preact'
import { link, organization, organizations } from '../app/location.ts'
import { mayAdminister } from '../app/permissions.ts'
import type { Listing } from '../app/query.ts'
import { Gauge } from '../parts/controls.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { dateOnly, number } from '../parts/time.ts'
import type { Organization } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import type { OnDo } from './doing.ts'
import { texts } from './organizations-texts.ts'

/** Number and limit of teams. `refusal` explains why no further team is possible. */
export interface TeamRoom {
  readonly used: number
  /** Null for no limit. */
  readonly limit: number | null
  readonly refusal: string | undefined
}

const isOwn = ({ id }: Organization): boolean => id === organization.value?.id

export function teamRoom(all: readonly Organization[] | undefined): TeamRoom | undefined {
  const own = all?.find(isOwn)
  if (!all || !own) return undefined
  const w = texts()
  const used = all.length - 1
  const allowed = own.limits['team_organizations']
  const limit = typeof allowed === 'number' ? allowed : null
  const refusal = own.owner_id !== null ? w.teamOfTeam : limit !== null && used >= limit ? w.teamCapReached : undefined
  return { used, limit, refusal }
}

interface TeamsProps {
  readonly list: Listing<Organization>
  readonly room: TeamRoom | undefined
  readonly onDo: OnDo
}

export function Teams({ list, room, onDo }: TeamsProps): JSX.Element {
  const w = texts()
  const teams: Listing<Organization> = {
    ...list,
    read: list.read.state === 'ready' ? { state: 'ready', data: list.read.data.filter((one) => !isOwn(one)) } : list.read,
  }
  return (
    <section aria-labelledby="teams">
      <div class="head">
        <h2 id="teams">{w.teams({ name: plain(organization.value?.name ?? '') })}</h2>
      </div>
      <p class="no-rows soft">{w.teamsText}</p>
      {room && <Room room={room} />}
      <TeamList list={teams} onDo={onDo} />
    </section>
  )
}

function Room({ room: { used, limit, refusal } }: { readonly room: TeamRoom }): JSX.Element {
  const w = texts()
  return (
    <div class="no-rows team-room">
      <p>
        {limit === null ? w.teamUseUnlimited({ used: number(used) }) : w.teamUse({ used: number(used), limit: number(limit) })}{' '}
        {refusal !== undefined && (
          <>
            {refusal} {refusal === w.teamCapReached && <a href={link('/settings/usage')}>{w.comparePlans}</a>}
          </>
        )}
      </p>
      {limit !== null && limit > 0 && <Gauge used={used} limit={limit} />}
    </div>
  )
}

function TeamList({ list, onDo }: Pick<TeamsProps, 'list' | 'onDo'>): JSX.Element {
  const w = texts()
  const isMember = ({ id }: Organization): boolean => organizations.value.some((one) => one.id === id)
  const Name = (team: Organization): JSX.Element =>
    isMember(team) ? (
      <a href={`/?org=${team.id}`}>
        <SafeText text={team.name} />
      </a>
    ) : (
      <SafeText text={team.name} />
    )
  const Actions = (team: Organization): JSX.Element => (
    <span class="row-buttons">
      <button class="button small" aria-label={w.renameNamed({ name: plain(team.name) })} onClick={() => onDo('rename', team)}>
        {w.rename}
      </button>
      <button class="button small danger" aria-label={w.deleteNamed({ name: plain(team.name) })} onClick={() => onDo('delete', team)}>
        {allTexts().delete}
      </button>
    </span>
  )
  const actions = (team: Organization): JSX.Element | string => (mayAdminister.value ? <Actions {...team} /> : '')
  return (
    <List
      label={w.teams({ name: plain(organization.value?.name ?? '') })}
      list={list}
      failure={w.teamsFailed}
      keyOf={({ id }) => id}
      empty={<p class="no-rows soft">{w.noTeams}</p>}
      columns={[
        { head: allTexts().name, class: 'strong', cell: (team) => <Name {...team} /> },
        { head: w.plan, class: 'c-small', cell: ({ plan_tier: plan }) => plan },
        { head: w.created, class: 'c-status', cell: ({ created_at: at }) => dateOnly(at) },
        { head: '', class: 'c-buttons num', cell: actions },
      ]}
      narrow={(team) => [<Mark name="ok" />, <Name {...team} />, `${team.plan_tier} · ${dateOnly(team.created_at)}`, actions(team)]}
    />
  )
}
