/** Words of Azure's documents, messages and fields, and those around them in a sentence. They name no resource of a customer. */
const words = new Set(
  `
  a after again all also an and any are as at be because been before being but by can cannot could did do does for from has have if in into is
  it its later may more most must next no not now of on once only or other over please should since some soon than that the their then there
  these this time to too under until up was when where which will with within without
  going os
  about action actions affected allocate allocated allocation approval approve approved associated authorized auto automatic availability
  available azure bad based batch before best broke broken capacity central cloud cluster code codes completed compute condition configuration
  connection content count creation credit critical current customer data day days deallocate deallocated deallocating deallocation degraded
  delete deleted deletion detected device disk disks document documents domain down due duration during effort end enabled error errors event
  events evict evicted eviction expected fail failed failing failure failures fault feature field fields follow format found freeze frozen
  frequent gateway group guest hardware header headers health healing host hosts hour hours http https id identifier image impact impacted
  impacting incarnation incarnations info information initiated input instance instances internal invalid issue issues json kind latest level
  limit link list live longer lost machine machines maintenance management many memory message messages metadata method migrate migrated
  migration minute minutes missing model monitor move moved name network new newest newer node none notice notification number object
  offline online operating operation operations optional order parameter parameters pause paused period physical planned platform policy
  position possible post power predicted preempt preempted preserving previous priority private process product property providers public query
  rack range rate reason reboot rebooted reboots reclaim recovery redeploy redeployed redeployment refused region reimage reimaged release
  repair repairs request requested requests required reset resize resource resources response restart restarted restarting result retry root
  rolling running scale scaling schedule scheduled scheduling seconds seen server service set severity short shut shutdown single size software
  source specified spot standard start started starts state status stop stopped subscription supported switch system systems tag tags temporary
  tenant terminate terminated termination timeout transient turned type unavailable unexpected unhealthy unknown unplanned unsupported update
  updated updates upgrade upgraded url user users valid value values version versions virtual warning web zone
  resourceid resourcetype eventid starttime gmt utc ms s
  html head title body h1 h2 h3 p hr br div span center nginx iis doctype xml encoding utf
  econnreset econnrefused etimedout ehostunreach enetunreach enetdown epipe econnaborted und err socket connect headers aborted closed
  tls address came answer
  basic regular low regularspot linux windows public government china german us cloud standard premium
  publisher offer sku
  canonical ubuntu server lts gen debian redhat rhel suse sles microsoft core datacenter jammy noble edition smalldisk hotpatch arm64 amd64
  microsoftwindowsserver windowsserver microsoftcblmariner azurelinux almalinux oracle rocky
  `
    .trim()
    .split(/\s+/),
);

/** Whether it is one of Azure's words, or made of them as in `DurationInSeconds`, `newest-versions` or `memory_preserving`. */
export function isAzureWord(word: string): boolean {
  const parts = word
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .toLowerCase()
    .split(/[\s_-]+/)
    .filter((part) => part !== '');
  return (
    words.has(word.toLowerCase()) || (parts.length > 0 && parts.every((part) => words.has(part) || isShortNumber(part)))
  );
}

/** A number too short to be an id or a telephone number. */
export const isShortNumber = (text: string): boolean => /^\d{1,8}$/.test(text);
