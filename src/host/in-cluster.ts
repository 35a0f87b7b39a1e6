/**
 * Whether this process is in a pod of Kubernetes. The kubelet sets the variable in every container, also where `enableServiceLinks` is
 * off: https://kubernetes.io/docs/concepts/containers/container-environment/#cluster-information
 */
export const isInCluster = (env: NodeJS.ProcessEnv): boolean => Boolean(env.KUBERNETES_SERVICE_HOST);

/**
 * Why nothing is approved there, automatically or manually. AKS cordons and drains a node before it is redeployed, preempted or deleted
 * (https://learn.microsoft.com/azure/aks/node-auto-drain); an approval would remove the node at once.
 */
export const notInCluster =
  'This is a pod of Kubernetes (KUBERNETES_SERVICE_HOST is set), where nothing is approved: the node would go before the cluster has drained it.';
