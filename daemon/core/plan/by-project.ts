/** Quantities by project. Pure. */

/** Quantities of the largest projects. The difference to the total belongs to no project, to removed projects or to smaller projects. */
export type ByProject = readonly (readonly [projectId: string, count: number])[]

export interface Held {
  readonly count: number
  readonly projects: ByProject
}

/** Maximum number of separately listed projects. */
export const maxProjects = 200

export const largestOf = (counts: Iterable<readonly [projectId: string, count: number]>): ByProject =>
  [...counts]
    .filter(([, count]) => count > 0)
    .toSorted(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
    .slice(0, maxProjects)

/** Counts items that each belong to one project. */
export function heldBy(things: Iterable<{ readonly projectId: string }>): Held {
  const counts = new Map<string, number>()
  let count = 0
  for (const { projectId } of things) {
    count++
    counts.set(projectId, (counts.get(projectId) ?? 0) + 1)
  }
  return { count, projects: largestOf(counts) }
}

/** Returns a count of items that belong to the whole organization. */
export const ofNoProject = (count: number): Held => ({ count, projects: [] })
