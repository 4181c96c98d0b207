/** The work of conditions grows with the counts, not with counts times subjects. */
import test from '#test'
import { attemptNames, projectNames } from '#core/insights/count.ts'
import type { Destination } from '#core/routing/destination.ts'
import type { Project } from '#core/tenancy/organization.ts'
import { attackConditions } from '#core/watch/conditions/people.ts'
import { receiverConditions } from '#core/watch/conditions/receivers.ts'
import { destinationConditions } from '#core/watch/conditions/routes.ts'
import type { Step } from '#core/watch/reading/steps.ts'

const now = 1_900_000_000_000
const minute = 60_000
const periods = { day: now - 1440 * minute, hour: now - 60 * minute, quarter: now - 15 * minute }
const project = { id: 'prj_1', name: 'Shop' } as Project
const destination = { projectId: 'prj_1', mode: 'live', name: 'Provider' } as Destination

const looks: Readonly<Record<string, (ids: readonly string[], steps: readonly Step[]) => readonly unknown[]>> = {
  destinations: (ids, steps) =>
    destinationConditions(
      { project, steps, periods },
      ids.map((id) => ({ ...destination, id })),
    ),
  receivers: (ids, steps) =>
    receiverConditions(
      ids.map((id) => ({ kind: 'webhook.failing', id, name: 'Hook', projectId: 'prj_1' })),
      steps,
      now,
    ),
  logins: (ids, steps) => attackConditions({ project, steps, periods }, new Map(ids.map((id) => [id, { label: 'Login' }]))),
}

/** Returns the number of findings, and how often the subject of a step was read. Each subject has 20 steps with failures. */
function workOf(look: (ids: readonly string[], steps: readonly Step[]) => readonly unknown[], subjects: number) {
  let reads = 0
  const ids = Array.from({ length: subjects }, (_, i) => `id_${i}`)
  const names = [attemptNames.errors, attemptNames.attempts, projectNames.webhookFailed, projectNames.loginRefused]
  const steps = ids.flatMap((id) =>
    Array.from({ length: 20 }, (_, i) => ({
      from: now - (30 - i) * minute,
      counts: new Map(names.map((name) => [name, 10])),
      get subject() {
        reads++
        return id
      },
    })),
  )
  return { found: look(ids, steps).length, reads }
}

for (const [subject, look] of Object.entries(looks))
  test(`${subject}: four times as many need at most five times the work`, (t) => {
    const [some, many] = [workOf(look, 50), workOf(look, 200)]
    t.deepEqual([some.found, many.found], [50, 200])
    t.true(many.reads <= 5 * some.reads, `${some.reads} and ${many.reads} reads`)
  })
