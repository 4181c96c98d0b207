/** How much of something each project has. Pure. */

/** Of the largest projects; what is missing to the whole is of no project, of one that is gone, or of those beyond. */
export type ByProject = readonly (readonly [projectId: string, count: number])[]

export interface Held {
  readonly count: number
  readonly projects: ByProject
}

/** Projects beyond these are not told apart. */
export const maxProjects = 200

export const largestOf = (counts: Iterable<readonly [projectId: string, count: number]>): ByProject =>
  [...counts]
    .filter(([, count]) => count > 0)
    .toSorted(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
    .slice(0, maxProjects)

/** Things that are each of one project. */
export function heldBy(things: Iterable<{ readonly projectId: string }>): Held {
  const counts = new Map<string, number>()
  let count = 0
  for (const { projectId } of things) {
    count++
    counts.set(projectId, (counts.get(projectId) ?? 0) + 1)
  }
  return { count, projects: largestOf(counts) }
}

/** Things that belong to the whole organization. */
export const ofNoProject = (count: number): Held => ({ count, projects: [] })
