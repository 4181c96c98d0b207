/** Projects of the organization, read once for the project switcher and for names. */
import { batch, computed, effect, signal } from '@preact/signals'
import type { Project } from '../wire/api.d.ts'
import type { Page } from '../wire/route.ts'
import { readAll } from './all.ts'
import { firstAnswer } from './api.ts'
import { organization, projectId } from './location.ts'
import { mayRead } from './permissions.ts'

export const projects = signal<readonly Project[]>([])
const areProjectsComplete = signal(true)
/** The projects as a list that may be cut. */
export const projectRows = computed(() => ({ rows: projects.value, isComplete: areProjectsComplete.value }))
/** True once the projects are read, or if the role cannot read them. The default project is unknown until then. */
export const areProjectsKnown = signal(false)

/** Reads the projects, and again after a switch of the organization. */
export function followProjects(): void {
  effect(() => {
    projects.value = []
    const canRead = organization.value && mayRead.value
    areProjectsKnown.value = !canRead
    if (!canRead) return undefined
    const aborter = new AbortController()
    // on failure the list stays empty: screens show the error, and the switcher shows only the organization
    const know = ({ rows, isComplete }: Awaited<ReturnType<typeof readAll<'/v1/projects'>>>): void => {
      if (aborter.signal.aborted) return
      batch(() => {
        projects.value = rows
        areProjectsComplete.value = isComplete
        areProjectsKnown.value = true
      })
    }
    const given = firstAnswer<Page<Project>>('/v1/projects', {})
    if (given) know({ rows: given.data, isComplete: true })
    else readAll('/v1/projects', {}, { signal: aborter.signal }).then(know, () => know({ rows: [], isComplete: true }))
    return () => aborter.abort()
  })
}

/** The project for new resources: the current one, else the default project. */
export const homeProject = (): Project | undefined =>
  projects.value.find(({ id }) => id === projectId.value) ?? projects.value.find(({ is_default: isDefault }) => isDefault)

/** Updates the list after a project was created or changed. */
export function rememberProject(changed: Project): void {
  const isKnown = projects.value.some(({ id }) => id === changed.id)
  projects.value = isKnown ? projects.value.map((one) => (one.id === changed.id ? changed : one)) : [changed, ...projects.value]
}

/** Removes a deleted project and its partitions from the list. */
export function forgetProject(gone: string): void {
  projects.value = projects.value.filter(({ id, parent_id: parent }) => id !== gone && parent !== gone)
}
