/**
 * Decides which queue begins the next attempt: the project with the fewest attempts in flight, then its destinations in turn. Reserves the
 * last connections for projects and destinations below an even share, so that hanging destinations leave some connections to others.
 */
import type { DestinationLoad } from '../health/destination-load.ts'
import type { DestinationQueue } from './destination-queue.ts'

/** Above this share of all connections, each destination of a project may only use an even part of the project's connections. */
const evenDestinationsShare = 0.75
/** Above this share, a project may only connect to a destination if it has no connection to that destination. */
const firstConnectionsShare = 0.875
/** Above this share, each project may only use an even part of all connections. */
const evenProjectsShare = 0.9

interface Project {
  readonly id: string
  /** Attempts in flight. */
  active: number
  /** Number of its queues with attempts in flight. */
  busy: number
  /** Its waiting queues in order of their turns. */
  readonly queues: Set<DestinationQueue>
}

export class RoundRobin {
  readonly #maxConnections: number
  /** Projects with attempts in flight or waiting queues. */
  readonly #projects = new Map<string, Project>()
  /** Projects with waiting queues, by number of attempts in flight. Among equals, the first is next. */
  readonly #line: Set<Project>[] = []
  /** No project with fewer attempts in flight has a waiting queue. */
  #fewest = 0
  /** Queues that wait for room at their destination, in order of their turns. */
  readonly #waiting = new Map<DestinationLoad, Set<DestinationQueue>>()
  #active = 0

  /** `maxConnections`: maximum number of attempts in flight. */
  constructor(maxConnections: number) {
    this.#maxConnections = maxConnections
  }

  /** Attempts in flight. */
  get active(): number {
    return this.#active
  }

  /** Adds a queue with ready messages. A queue that already waits for its turn or for its destination keeps its position. */
  add(queue: DestinationQueue): void {
    if (this.#waiting.get(queue.load)?.has(queue)) return
    const project = this.#project(queue.projectId)
    project.queues.add(queue)
    this.#queueUp(project)
  }

  /** Removes and returns the next queue; undefined if no attempt may begin now. */
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

  /** Removes the queue from the rotation until its destination has room; see `release`. */
  wait(queue: DestinationQueue): void {
    const queues = this.#waiting.get(queue.load)
    if (queues) queues.add(queue)
    else this.#waiting.set(queue.load, new Set([queue]))
  }

  /**
   * Returns the longest-waiting queue of the destination to the rotation. Called while the destination has room. Returns false if no queue
   * waits.
   */
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

  /** Returns the first queue of a project that may begin an attempt now. */
  #queueOf(project: Project): DestinationQueue | undefined {
    const isScarce = this.#active >= this.#maxConnections * firstConnectionsShare
    const most = isScarce ? 1 : this.#most(evenDestinationsShare, this.#projects.size * project.busy)
    for (const queue of project.queues) if (queue.active < most) return queue
    return undefined
  }

  /** Limit of attempts in flight for each of `sharers`: infinite below the share, then an even part. */
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
