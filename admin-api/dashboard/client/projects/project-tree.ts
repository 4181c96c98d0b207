/** Order of projects: the default project first, and partitions after their project. */
import type { Project } from '../wire/api.d.ts'

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

export function inTree(rows: readonly Project[]): readonly Project[] {
  const sorted = rows.toSorted((a, b) => Number(b.is_default) - Number(a.is_default) || byName.compare(a.name, b.name))
  const known = new Set(rows.map(({ id }) => id))
  const byParent = Map.groupBy(sorted, ({ parent_id: parent }) => (parent !== null && known.has(parent) ? parent : ''))
  return (byParent.get('') ?? []).flatMap((project) => [project, ...(byParent.get(project.id) ?? [])])
}
