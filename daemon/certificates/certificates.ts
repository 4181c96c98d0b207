/** Composes the certificate source of a daemon, and the challenge responses for a certificate authority. */
import { publicUrl } from '#config/settings/load.ts'
import { Tries } from '#core/visitors/tries.ts'
import type { Composition } from '../composition/parts.ts'
import { AcmeRenewal, orderWindow } from './acme/renewal.ts'
import { ChallengeServer } from './acme/challenge-server.ts'
import { Challenges, type Shown } from './acme/challenges.ts'
import { acmeNames } from './acme/names.ts'
import type { OrderRecords } from './acme/order-records.ts'
import { OrderFiles } from './acme/ordered-files.ts'
import { StoredChallenges } from './acme/stored-challenges.ts'
import { StoredOrders } from './acme/stored-orders.ts'
import { authoritiesIn } from './authorities.ts'
import type { Certificates } from './certificate-source.ts'
import { ConfiguredFiles } from './configured-files.ts'
import { SelfMade } from './self-made.ts'

const pollMsDefault = 1000

/** Throws `ConfigInvalid` without a name to order a certificate for, or if a file is not readable. */
export function certificates(composition: Composition): Certificates {
  const { config, certificate: current, log, metrics, get } = composition
  const { acme, tls, http } = config
  const options = { config, current, log, clock: get('clock') }
  const { database, clock, secrets } = get('core')
  const { daemons } = database
  const challenges = new Challenges()
  metrics.watch(
    'certificate_expires_timestamp_seconds',
    'When the certificate of the listeners expires, in seconds since the epoch.',
    () => current.expires.getTime() / 1000,
  )
  get('health').watch(() => current.warning(get('clock').now()))
  if (acme.challenge === 'off') {
    const source = tls.certificateFile === null ? new SelfMade(options) : new ConfiguredFiles(options)
    return { source, challenges, challengeServer: undefined }
  }
  const files = new OrderFiles(config.dataDir)
  const records = daemons.isAlone ? files : new StoredOrders({ database, secrets }, files)
  const shown = daemons.isAlone ? challenges : new StoredChallenges({ database, secrets, clock }, challenges)
  const request = requestOf(composition, records, shown)
  const begun = new Tries({ clock, database }, 'certificate orders', orderWindow)
  const source = new AcmeRenewal({ ...options, ...{ daemons, random: get('random'), begun, metrics, request } })
  const base = publicUrl(config, http.listen)
  return {
    source,
    challenges,
    challengeServer: acme.challenge === 'http-01' ? new ChallengeServer(acme.listen, challenges, base) : undefined,
  }
}

function requestOf(
  { config, version, replace }: Composition,
  records: OrderRecords,
  challenges: Shown,
): ConstructorParameters<typeof AcmeRenewal>[0]['request'] {
  const { challenge, directoryUrl, email, eabKeyId, eabKey } = config.acme
  return {
    ...{ records, directory: directoryUrl, names: acmeNames(config), email, challenges },
    challenge: challenge === 'tls-alpn-01' ? challenge : 'http-01',
    external: eabKeyId === null || eabKey === null ? undefined : { kid: eabKeyId, hmacKey: eabKey },
    trusted: authoritiesIn('POSTERN_ACME_CA_FILE', config.acme.caFile),
    userAgent: `Postern/${version}`,
    pollMs: replace.acmePollMs ?? pollMsDefault,
  }
}
