/**
 * Whose turn it is to begin an attempt: the project with the fewest under way, and its destinations in turn. The last of all
 * connections are for those that have fewer than an even part, so that destinations that hang leave some to the others.
 */
import type { DestinationLoad } from '../health/destination-load.ts'
import type { DestinationQueue } from './destination-queue.ts'

/** Beyond this share of all connections a destination gets more only up to an even part of the share, among those of its project. */
const evenDestinationsShare = 0.75
/** Beyond this share only a destination gets one for which the project has none. */
const firstConnectionsShare = 0.875
/** Beyond this share a project gets more only up to an even part of the share. */
const evenProjectsShare = 0.9

interface Project {
  readonly id: string
  /** Attempts under way. */
  active: number
  /** Its lanes with attempts under way. */
  busy: number
  /** Its lanes that stand in line, in the order of their turns. */
  readonly queues: Set<DestinationQueue>
}

export class RoundRobin {
  readonly #maxConnections: number
  /** Projects with attempts under way or lanes in line. */
  readonly #projects = new Map<string, Project>()
  /** Projects with lanes in line, by their attempts under way; of equals the first one is next. */
  readonly #line: Set<Project>[] = []
  /** Below this number of attempts there is no project in line. */
  #fewest = 0
  /** Lanes that wait until their destination has room, in the order of their turns. */
  readonly #waiting = new Map<DestinationLoad, Set<DestinationQueue>>()
  #active = 0

  /** `maxConnections`: attempts that may be under way at a time. */
  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections
  }

  /** Attempts under way. */
  get active(): number {
    return this.#active
  }

  /** The lane has messages that are ready. One that stands in line, or waits for its destination, keeps its place. */
  add(queue: DestinationQueue): void {
    if (this.#waiting.get(queue.load)?.has(queue)) return
    const project = this.#project(queue.projectId)
    project.queues.add(queue)
    this.#queueUp(project)
  }

  /** Takes the lane whose turn it is out of the line; undefined when none may begin now. */
  next(): DestinationQueue | undefined {
    if (this.#active >= this.#maxConnections) return undefined
    const end = Math.min(this.#line.length, this.#most(evenProjectsShare, this.#projects.size))
    while (this.#fewest < this.#line.length && this.#line[this.#fewest]?.size === 0) this.#fewest++
    for (let active = this.#fewest; active < end; active++) {
      for (const project of this.#line[active] ?? []) {
        const queue = this.#queueOf(project)
        if (queue) return this.#leave(project, queue)
      }
    }
    return undefined
  }

  /** The lane waits until its destination has room. */
  wait(queue: DestinationQueue): void {
    const queues = this.#waiting.get(queue.load)
    if (queues) queues.add(queue)
    else this.#waiting.set(queue.load, new Set([queue]))
  }

  /** The destination has room: the lane that waits longest stands in line again. False when none waits. */
  release(load: DestinationLoad): boolean {
    const queues = this.#waiting.get(load)
    const [queue] = queues ?? []
    if (!queues || !queue) return false
    queues.delete(queue)
    if (queues.size === 0) this.#waiting.delete(load)
    this.add(queue)
    return true
  }

  began(queue: DestinationQueue, monotonicMs: number): void {
    const project = this.#project(queue.projectId)
    if (queue.active === 0) project.busy++
    queue.active++
    queue.load.begin(monotonicMs)
    this.#count(project, 1)
  }

  ended(queue: DestinationQueue): void {
    const project = this.#project(queue.projectId)
    queue.active--
    queue.load.active--
    if (queue.active === 0) project.busy--
    this.#count(project, -1)
  }

  /** The first of a project's lanes that may begin now. */
  #queueOf(project: Project): DestinationQueue | undefined {
    const isScarce = this.#active >= this.#maxConnections * firstConnectionsShare
    const most = isScarce ? 1 : this.#most(evenDestinationsShare, this.#projects.size * project.busy)
    for (const queue of project.queues) if (queue.active < most) return queue
    return undefined
  }

  /** With fewer attempts under way than this, one of so many gets another one now. */
  #most(share: number, sharers: number): number {
    if (this.#active < this.#maxConnections * share) return Infinity
    return Math.max(1, Math.floor((this.#maxConnections * share) / sharers))
  }

  #project(id: string): Project {
    let project = this.#projects.get(id)
    if (!project) this.#projects.set(id, (project = { id, active: 0, busy: 0, queues: new Set() }))
    return project
  }

  #count(project: Project, change: 1 | -1): void {
    this.#line[project.active]?.delete(project)
    project.active += change
    this.#active += change
    if (project.queues.size > 0) this.#queueUp(project)
    else if (project.active === 0) this.#projects.delete(project.id)
  }

  #queueUp(project: Project): void {
    const { active } = project
    while (this.#line.length <= active) this.#line.push(new Set())
    this.#line[active]?.add(project)
    this.#fewest = Math.min(this.#fewest, active)
  }

  #leave(project: Project, queue: DestinationQueue): DestinationQueue {
    project.queues.delete(queue)
    if (project.queues.size === 0) {
      this.#line[project.active]?.delete(project)
      if (project.active === 0) this.#projects.delete(project.id)
    }
    return queue
  }
}
