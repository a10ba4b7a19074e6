package main

import "k8s.io/client-go/tools/cache"

// Says once that something has changed, however much did since it was last heard.
func wakeOn(informers ...cache.SharedInformer) (<-chan struct{}, error) {
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	for _, informer := range informers {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(interface{}) { wake() },
			UpdateFunc: func(interface{}, interface{}) { wake() },
			DeleteFunc: func(interface{}) { wake() },
		})
		if err != nil {
			return nil, err
		}
	}
	return woken, nil
}
