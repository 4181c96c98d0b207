/**
 * The composition root: the one place that knows which implementation stands behind each interface. Everything is
 * built from plain constructor arguments; the container never leaves this file.
 */
import 'reflect-metadata' // tsyringe refuses to load without it
import { container as root, instanceCachingFactory, type DependencyContainer, type InjectionToken } from 'tsyringe'
import type { Config } from '#config/load.ts'
import { ApiKeys } from '#core/access/api-keys.ts'
import type { SecretBox } from '#core/access/secret-box.ts'
import { BackgroundRead } from '#core/capture/background-read.ts'
import { CaptureBell } from '#core/capture/bell.ts'
import { Inboxes } from '#core/capture/inboxes.ts'
import type { MessageReader } from '#core/capture/message-reader.ts'
import { systemClock, type Clock } from '#core/clock.ts'
import { Attempts } from '#core/delivery/attempt.ts'
import { DeliveryQueue } from '#core/delivery/queue.ts'
import type { Transport } from '#core/delivery/transport.ts'
import { addressGuard, type AddressGuard } from '#core/outbound/address-guard.ts'
import { SystemResolver, type Resolver } from '#core/outbound/resolver.ts'
import { Policies } from '#core/routing/policy.ts'
import { Accept } from '#core/submission/accept.ts'
import { SubmissionDoor } from '#core/submission/smtp-login.ts'
import { WorkerMessageReader } from '#ingest/message-reader.ts'
import { Database } from '#store/database.ts'
import { queueLength } from '#store/queue.ts'
import type { Kv } from '#store/kv.ts'
import { Admission, defaultLag, freeBytes } from './admission.ts'
import { Housekeeping } from './housekeeping.ts'
import type { Logger } from './logging.ts'
import { Metrics } from './metrics.ts'
import { Observer } from './observer.ts'

/** What leaves the process or is time; tests put their own in its place. */
export interface Replacements {
  readonly clock?: Clock
  readonly resolver?: Resolver
  readonly transport?: Transport
}

/** What stands before anything can be composed: opened, read or made by the start. */
export interface Foundation {
  readonly config: Config
  readonly log: Logger
  readonly kv: LevelKv
  readonly secrets: SecretBox
  readonly metrics: Metrics
  readonly certificate: Pick<Certificate, 'cert' | 'key'>
  readonly version: string
}

const token = <T>(name: string): InjectionToken<T> => Symbol(name)

const T = {
  Accept: token<Accept>('Accept'),
  Admission: token<Admission>('Admission'),
  ApiKeys: token<ApiKeys>('ApiKeys'),
  Attempts: token<Attempts>('Attempts'),
  BackgroundRead: token<BackgroundRead>('BackgroundRead'),
  Bell: token<CaptureBell>('Bell'),
  Clock: token<Clock>('Clock'),
  Database: token<Database>('Database'),
  Guard: token<AddressGuard>('Guard'),
  Housekeeping: token<Housekeeping>('Housekeeping'),
  Http: token<AdminApi>('Http'),
  Observer: token<Observer>('Observer'),
  Policies: token<Policies>('Policies'),
  Queue: token<DeliveryQueue>('Queue'),
  Reader: token<MessageReader>('Reader'),
  Resolver: token<Resolver>('Resolver'),
  SmtpDoor: token<SubmissionDoor>('SmtpDoor'),
  Submission: token<SubmissionServer>('Submission'),
  Transport: token<Transport>('Transport'),
}
