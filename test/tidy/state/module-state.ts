/** Refuses state of modules: daemons and tests share a process, so state belongs to instances. */
import { matchesGlob } from 'node:path'
import type { Source } from '../source.ts'

/** Modules of browser pages and of programs, which have a process to themselves. */
const own = [
  'admin-api/{dashboard,docs-site,pages/forms}/client/**',
  'admin-api/pages/forms/embed/**',
  'test/**/*.test.ts',
  'test/{bench,bounds,crash}/**',
]

const ofFunction = 'memo of a pure function'
const ofForeign = 'a property of an object that another library makes'
const ofThread = 'a process has one main thread, whose turns its daemons share'
const ofStore = 'each store has its own; the store layer does not know the core'

/** Allowed state of modules, as path and name, with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'admin-api/docs-site/chapters/reference.ts read': ofFunction,
  'admin-api/http/routes.ts apps': 'memo of the router of a list of operations',
  'admin-api/rest/inboxes/inboxes.ts rendered': 'a memo by message, dropped with the message',
  'admin-api/pages/messages/linked-text.ts linkify': ofFunction,
  'admin-api/vendors/body/ignored-fields.ts shapes': ofFunction,
  'admin-api/vendors/sigv4.ts claims': ofFunction,
  'admin-api/vendors/sigv4.ts signingKeys': ofFunction,
  'admin-api/wire/fields/text-form.ts ownFields': 'a property of a schema, set once when the schema is made',
  'admin-api/wire/fields/text-form.ts textForms': 'a property of a schema, set once when the schema is made',
  'config/own-files.ts native': 'a process loads native code once',
  'daemon/core/access/client-network.ts known': ofFunction,
  'daemon/core/capture/reading/read-marks.ts latest': ofStore,
  'daemon/core/fairness/turns.ts waiting': ofThread,
  'daemon/core/fairness/thread-meter.ts meters': ofThread,
  'daemon/core/forms/definition/pattern.ts compiled': ofFunction,
  'daemon/core/insights/levels.ts recent': ofFunction,
  'daemon/core/routing/match/environment.ts ordered': ofFunction,
  'daemon/core/submission/compose/compose.ts kept': ofFunction,
  'daemon/core/tenancy/counters.ts kept': ofFunction,
  'daemon/core/trace/arrivals.ts knownPatterns': ofFunction,
  'daemon/core/writes/transact.ts turns': ofStore,
  'daemon/observability/logging.ts fieldNames': ofFunction,
  'protocols/outbound/keep-alive-agent.ts facts': ofForeign,
  'protocols/reception/reception-context.ts triedUsers': ofForeign,
  'store/engine/codec.ts halves': ofFunction,
  'store/postgresql/connections/session.ts processes': ofForeign,
  'store/tuple.ts scratch': 'memory that one synchronous call writes and copies',
  'test/admin-api/pages/tab.ts checkedIn': 'a page that passed the check is not checked again',
  'test/ingest/inspect/golden.ts made': 'key pairs, which tests may share',
  'test/protocols/submission/submission-fixture.ts made': 'a certificate, which tests may share',
  'test/support/daemon/daemon.ts running': 'processes that end with this one',
  'test/suite/process/shared-resources.ts resources': 'resources that the modules of a process share',
  'test/suite/process/shared-test.ts declarations': 'a process imports one module at a time',
  'test/support/network/program-port.ts block': 'a process reserves one block of ports',
  'test/support/waits.ts waits': 'a process has one list of the waits in progress',
  'test/support/left-open.ts open': 'a process has one list of its open objects',
  'test/support/web/browser.ts sessions': ofForeign,
}

/** Returns the state of modules that is not allowed. */
export const moduleState = (sources: readonly Source[]): string[] =>
  sources
    .filter(({ path }) => !own.some((glob) => matchesGlob(path, glob)))
    .flatMap(({ path, state }) =>
      state
        .filter(({ text }) => !Object.hasOwn(allowed, `${path} ${text}`))
        .map(({ text, line }) => `${path}:${line} ${text} is state of the module: keep it in an instance`),
    )
