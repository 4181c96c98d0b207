/** Composes the doctor: its checks and its metrics. */
import { alertPathFindings } from '#core/doctor/alert-path.ts'
import { deliveryChecks } from '#core/doctor/delivery-checks.ts'
import { Doctor } from '#core/doctor/doctor.ts'
import { domainCheck } from '#core/doctor/domain-check.ts'
import { credentialCheck } from '#core/doctor/credential-check.ts'
import { siteDomainCheck } from '#core/doctor/site-domain-check.ts'
import { formTarget } from '#core/forms/notifications/form-webhook.ts'
import { routeTarget } from '#core/inbound-routes/route.ts'
import { systemLookUp } from '#core/outbound/resolver.ts'
import { broke, type Composition } from '../composition/parts.ts'
import { keyProblem } from '../process/master-key.ts'
import { addressCheck } from './address-check.ts'
import { fileCheck, machineName, orderCheck, processCheck, serviceChecks } from './process-check.ts'
import { dependencyCheck } from './dependency-check.ts'
import { storeCheck } from './store-check.ts'

export function doctorCore(composition: Composition): Doctor {
  const { get, config, metrics, replace } = composition
  const core = get('core')
  const { mail } = get('people')
  const { database, clock } = core
  const publishing = { spfMechanisms: config.outbound.spf, bounceDomain: config.inboundDomain, mxHost: config.smtpHost }
  const daemonName = database.daemons.isAlone ? '' : machineName(config)
  const doctor = new Doctor({
    ...{ database, clock, settle: get('settle') },
    checks: [
      processCheck({
        ...{ config, clock, daemonName, logLoss: composition.logLoss },
        keyFault: async () => (await keyProblem(config, composition.kv))?.fault,
      }),
      fileCheck({ config, clock, daemonName, database }),
      ...serviceChecks({ config, isMailReady: () => mail.isReady(), alertPath: () => alertPathFindings(core) }),
      orderCheck({ config, clock, daemonName, current: composition.certificate }),
      storeCheck({ config, clock, kv: composition.kv, database }),
      ...deliveryChecks({ ...core, probes: get('probes'), health: get('healthRegistry'), targets: [routeTarget, formTarget] }),
      domainCheck({ ...core, resolver: get('resolver'), publishing }),
      siteDomainCheck(core),
      credentialCheck(core),
      dependencyCheck({ clock, daemonName, captchas: get('publishable').captchas, spanExport: get('spans')?.spanExport }),
      addressCheck({ config, lookUp: replace.lookUp ?? systemLookUp(config.outbound.dnsServers) }),
    ],
    onError: broke(composition, 'a check of the doctor'),
  })
  metrics.watchEach('doctor_findings', 'Open findings for the operator, by severity.', ['severity'], () =>
    [...doctor.counts().bySeverity].map(([severity, value]) => ({ labels: { severity }, value })),
  )
  metrics.watchEach('doctor_finding', 'Open findings for the operator, by kind.', ['id'], () =>
    [...doctor.counts().byKind].map(([id, value]) => ({ labels: { id }, value })),
  )
  get('health').watchErrors(() => doctor.serviceErrors)
  return doctor
}
