/** Audit log of the organization for its administrators: author, change and time. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { useList, useRead } from '../app/query.ts'
import { mayChange } from '../app/permissions.ts'
import { projectId } from '../app/location.ts'
import { projects } from '../app/projects.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { texts } from './audit-texts.ts'
import { Entries } from './entries.tsx'
import { asQuery, filterHere } from './filter.ts'

export default function Audit(): JSX.Element {
  const w = texts()
  const project = projectId.value
  const list = useList('/v1/audit', {
    query: { ...asQuery(filterHere()), ...(project !== undefined && { project }) },
  })
  const members = useRead('/v1/members', mayChange.value ? {} : undefined).data?.data ?? []
  const keys = useAll('/v1/api-keys', mayChange.value ? {} : undefined).rows
  const actors = new Map([
    ...members.map(({ user_id: id, email }) => [id, email] as const),
    ...keys.map(({ id, name }) => [id, name] as const),
  ])
  return (
    <>
      <TopBar title={w.title} />
      <div class="sheet">
        <Entries list={list} actors={actors} projects={new Map(projects.value.map(({ id, name }) => [id, name]))} />
      </div>
    </>
  )
}
